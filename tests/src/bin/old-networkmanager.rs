//! Pretends to be an old NetworkManager: it only reports its version.

struct Old;

#[zbus::interface(name = "org.freedesktop.NetworkManager")]
impl Old {
    #[zbus(property)]
    fn version(&self) -> &'static str {
        "1.30.6"
    }

    #[zbus(property)]
    fn checkpoints(&self) -> Vec<zbus::zvariant::OwnedObjectPath> {
        Vec::new()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> zbus::Result<()> {
    let _bus = zbus::connection::Builder::system()?
        .name("org.freedesktop.NetworkManager")?
        .serve_at("/org/freedesktop/NetworkManager", Old)?
        .build()
        .await?;
    println!("ready");
    std::future::pending().await
}
