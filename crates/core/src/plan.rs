use std::collections::BTreeSet;
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Plan { pub touched: BTreeSet<String>, pub created: BTreeSet<String>, pub removed: BTreeSet<String>, pub own_path: BTreeSet<String>, pub n: usize , pub text: String}
impl Plan { pub fn is_empty(&self)->bool{self.n==0} pub fn render(&self,_:bool)->String{self.text.clone()} }
pub fn plan(d:&serde_json::Value,o:&serde_json::Value,_:&crate::facts::Facts)->Result<Plan,Vec<crate::diagnostic::Diagnostic>>{
 let diffs=crate::compare::differences(d,o);
 let mut p=Plan{n:diffs.len(),..Default::default()};
 for x in &diffs{p.text+=&format!("{x}\n");}
 let names=|v:&serde_json::Value|->BTreeSet<String>{v["interfaces"].as_array().into_iter().flatten().filter_map(|i|Some(i["name"].as_str()?.to_string())).collect()};
 p.touched=names(d); p.created=names(d).difference(&names(o)).cloned().collect();
 Ok(p)}
