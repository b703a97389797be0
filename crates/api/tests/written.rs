//! `deploy/` holds what the code says. `UPDATE_GOLDEN=1` writes it anew.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use linesman_api::{admission, crd, names};
use serde_json::Value;

fn deploy(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(folder)
}

fn is_written(file: &Path, objects: &[Value]) {
    let documents: Vec<String> = objects.iter().map(|o| yaml_serde::to_string(o).unwrap()).collect();
    let now = documents.join("---\n");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(file, &now).unwrap();
    }
    let then = fs::read_to_string(file).unwrap_or_default();
    assert!(then == now, "{} is not what the code says; run with UPDATE_GOLDEN=1", file.display());
}

fn files(folder: &str) -> usize {
    fs::read_dir(deploy(folder)).unwrap().count()
}

#[test]
fn crds_are_as_the_code_says() {
    let all = crd::all();
    for crd in &all {
        let plural = crd["spec"]["names"]["plural"].as_str().unwrap();
        let group = crd["spec"]["group"].as_str().unwrap();
        is_written(&deploy("crds").join(format!("{group}_{plural}.yaml")), std::slice::from_ref(crd));
    }
    assert_eq!(files("crds"), all.len());
}

#[test]
fn admission_policies_are_as_the_code_says() {
    let all = admission::all(names::NAMESPACE);
    for pair in all.chunks(2) {
        let name = pair[0]["metadata"]["name"].as_str().unwrap();
        is_written(&deploy("admission").join(format!("{name}.yaml")), pair);
    }
    assert_eq!(files("admission") * 2, all.len());
}
