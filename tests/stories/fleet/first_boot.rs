//! What became of the document that a node was installed with, as the cluster sees it; and a policy that adopts it.

use linesman_core::document::Document;
use linesman_tests::br_ex;
use linesman_tests::fleet::Fleet;
use serde_json::json;

const FILE: &str = "/etc/nmstate/openshift/n1.yml";

#[test]
fn the_cluster_sees_documents_that_are_applied_changed_and_adopted() {
    let fleet = Fleet::new("first-boot-fleet", 1);
    let node = fleet.node("n1");
    let first_boot = || {
        let state = fleet.get("nodenetworkstates", "n1").unwrap_or_default();
        state["status"]["firstBoot"].clone()
    };
    let document = br_ex(node);
    node.run(["mkdir", "-p", "/etc/nmstate/openshift"]).unwrap();
    node.write_file(FILE, &document, 0o644).unwrap();
    assert!(fleet.linesman("n1", &["firstboot"]).success());
    fleet.eventually("the cluster sees that it is applied", || first_boot()["state"] == "Applied");
    assert_eq!(first_boot()["document"], "n1.yml");

    assert!(fleet.linesman("n1", &["firstboot"]).success());
    let before = fleet.network("n1");
    let state = Document::parse("n1.yml", &document).unwrap().state;
    fleet.policy("site", &json!({ "desiredState": state }));
    fleet.wait_enactment("n1", "site", "Available");
    assert_eq!(fleet.network("n1"), before, "adopted without a change");
    assert_eq!(fleet.verdicts("n1", "site"), Vec::<String>::new(), "nor an entry in the journal");

    let edited = document.replace("copy-mac-from: eth0", "copy-mac-from: eth0\n  mtu: 1400");
    node.write_file(FILE, edited, 0o644).unwrap();
    assert!(fleet.linesman("n1", &["firstboot", "--on-change", "boot"]).success());
    fleet.eventually("the cluster sees that the policy wins", || first_boot()["state"] == "Superseded");
    assert!(first_boot()["message"].as_str().unwrap().contains("br-ex (policy site)"), "{}", first_boot());
    assert_eq!(fleet.network("n1"), before);
}
