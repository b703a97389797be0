//! The manifests that are installed in a cluster.

use std::process::Command;

use linesman_tests::api::Api;
use linesman_tests::binary;
use serde_json::Value;

fn crds(options: &[&str]) -> String {
    let output = Command::new(binary()).arg("crds").args(options).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_crds_are_established_without_warnings() {
    let api = Api::shared();
    let crds: Value =
        serde_json::from_str(&api.cluster.run(&["get", "crds", "-o", "json"]).unwrap()).unwrap();
    let crds = crds["items"].as_array().unwrap();
    assert_eq!(crds.len(), 5);
    for crd in crds {
        for condition in crd["status"]["conditions"].as_array().unwrap() {
            let expected = ["Established", "NamesAccepted"].contains(&condition["type"].as_str().unwrap());
            assert_eq!(condition["status"] == "True", expected, "{}: {condition:#}", crd["metadata"]["name"]);
        }
    }
}

/// Applying it would change nothing: what a person pipes into kubectl is what `deploy/` holds.
#[test]
fn linesman_prints_what_is_installed() {
    let api = Api::shared();
    let words = ["apply", "--server-side", "--force-conflicts", "--dry-run=server", "-o", "json", "-f", "-"];
    for (options, kind, count) in [
        (&[][..], "CustomResourceDefinition", 5),
        (&["-o", "json"], "CustomResourceDefinition", 5),
        (&["--admission"], "ValidatingAdmissionPolicy", 8),
    ] {
        let said = api.cluster.kubectl_with(&api.cluster.admin(), &words, &crds(options)).unwrap();
        let objects: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{}", said.stderr));
        let objects = objects["items"].as_array().unwrap();
        let objects: Vec<&Value> = objects.iter().filter(|object| object["kind"] == kind).collect();
        assert_eq!(objects.len(), count);
        for object in objects {
            assert_eq!(object["metadata"]["generation"], 1, "{} would change", object["metadata"]["name"]);
        }
    }
}
