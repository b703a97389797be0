//! Runs single functions of the engine inside a node and prints what they say as JSON. For stories only.

use std::{collections::BTreeSet, io::Read, process::ExitCode, time::Duration};

use linesman_core::interface_name::InterfaceName;
use linesman_engine::{
    netlink::{LinkEvents, Netlink},
    ovs::{DEFAULT_SOCKET, OvsKeys, Ovsdb, Scope, Written, carry_plan, missing_rows, restore_plan},
    probe::{Probe, ProbeResult, assess, default_probes, run_once, wait_until_pass},
};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "on-node keys | restore NAME… | carry NAME… | links | addresses | probe [PROBE…] | wait MILLISECONDS PROBE…
restore and carry read a snapshot from standard input; wait reads the results from before the change";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match say(&words).await {
        Ok(said) => println!("{said:#}"),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

async fn say(words: &[&str]) -> Result<Value> {
    Ok(match words {
        ["keys"] => json!(read_keys().await?.1),
        ["restore", names @ ..] => restore(names).await?,
        ["carry", names @ ..] => carry(names).await?,
        ["links"] => json!(Netlink::open()?.links().await?),
        ["addresses"] => json!(Netlink::open()?.addresses().await?),
        ["probe"] => json!(run_once(&default_probes(false), &None).await),
        ["probe", texts @ ..] => json!(run_once(&probes(texts)?, &None).await),
        ["wait", patience, texts @ ..] => wait(patience.parse()?, &probes(texts)?).await?,
        _ => return Err(USAGE.into()),
    })
}

fn input<T: serde::de::DeserializeOwned>() -> Result<T> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}

async fn read_keys() -> Result<(Ovsdb, OvsKeys)> {
    let mut ovsdb = Ovsdb::connect(DEFAULT_SOCKET).await?;
    let keys = OvsKeys::read(&mut ovsdb).await?;
    Ok((ovsdb, keys))
}

fn named(names: &[&str]) -> BTreeSet<InterfaceName> {
    names.iter().copied().map(InterfaceName::from).collect()
}

async fn restore(names: &[&str]) -> Result<Value> {
    let snapshot: OvsKeys = input()?;
    let (mut ovsdb, now) = read_keys().await?;
    let scope = Scope { names: named(names), global: true };
    let applied = ovsdb.apply(&restore_plan(&snapshot, &now, &scope)).await?;
    Ok(json!({"changed": applied.changed, "missing": missing_rows(&snapshot, &now, &scope)}))
}

async fn carry(names: &[&str]) -> Result<Value> {
    let snapshot: OvsKeys = input()?;
    let (mut ovsdb, now) = read_keys().await?;
    let applied = ovsdb.apply(&carry_plan(&snapshot, &now, &named(names), &Written::default())).await?;
    Ok(json!({"changed": applied.changed}))
}

fn probes(texts: &[&str]) -> Result<Vec<Probe>> {
    Ok(texts.iter().map(|text| text.parse()).collect::<std::result::Result<_, _>>()?)
}

async fn wait(patience: u64, probes: &[Probe]) -> Result<Value> {
    let before: Vec<ProbeResult> = input()?;
    let mut events = LinkEvents::subscribe().await?;
    let wake = async || events.changed().await;
    let after = wait_until_pass(probes, &before, &None, Duration::from_millis(patience), wake).await;
    let assessment = assess(&before, &after);
    Ok(json!({"after": after, "holds": assessment.holds(), "reason": assessment.reason()}))
}
