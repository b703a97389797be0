use std::{future::ready, net::IpAddr, time::Duration};

use futures_util::{Stream, TryStreamExt};
use rtnetlink::{
    RouteMessageBuilder,
    packet_route::{
        link::LinkMessage,
        neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState},
        route::RouteMessage,
    },
};

use tokio::time::{Instant, sleep};

use super::{
    Error, Netlink, Result,
    facts::{self, AddressFact, DefaultRoute, LinkFact, Names, NicFact},
};

const GLANCE: Duration = Duration::from_millis(25);

impl Netlink {
    pub async fn links(&self) -> Result<Vec<LinkFact>> {
        let messages = self.link_messages().await?;
        let names = names(&messages);
        Ok(messages.iter().filter_map(|message| facts::link(message, &names)).collect())
    }

    pub async fn nics(&self) -> Result<Vec<NicFact>> {
        Ok(self.link_messages().await?.iter().filter_map(facts::nic).collect())
    }

    pub async fn addresses(&self) -> Result<Vec<AddressFact>> {
        let names = self.names().await?;
        let messages = collect("list addresses", self.handle.address().get().execute()).await?;
        Ok(messages.iter().filter_map(|message| facts::address(message, &names)).collect())
    }

    /// The default routes of the main table, both families, the preferred one of each family first.
    pub async fn default_routes(&self) -> Result<Vec<DefaultRoute>> {
        let names = self.names().await?;
        let mut routes = vec![];
        let wanted = |message: RouteMessage| ready(Ok(facts::default_route(&message, &names)));
        let questions = [
            RouteMessageBuilder::<std::net::Ipv4Addr>::new().build(),
            RouteMessageBuilder::<std::net::Ipv6Addr>::new().build(),
        ];
        for question in questions {
            // One by one: a router may hold a million others.
            let answers = self.handle.route().get(question).execute();
            let found: Vec<_> = answers
                .try_filter_map(wanted)
                .try_collect()
                .await
                .map_err(|error| Error::of("list routes", error))?;
            routes.extend(found);
        }
        routes.sort_by_key(|route: &DefaultRoute| (route.ipv6, route.metric));
        Ok(routes)
    }

    /// Asks a neighbour that is known anew, by ARP or neighbour discovery, and says whether it answers.
    ///
    /// The kernel takes a neighbour for reachable for half a minute after its last word, also when its cable has been
    /// cut since: what the table says without asking proves nothing.
    pub async fn confirm_neighbour(&self, ip: IpAddr, index: u32, deadline: Instant) -> Result<bool> {
        use NeighbourState::{Delay, Probe, Reachable, Stale};
        if !matches!(self.neighbour_state(ip, index).await?, Some(Reachable | Stale | Delay | Probe)) {
            return Ok(false);
        }
        let question = self.handle.neighbours().add(index, ip).state(Probe).replace();
        question.execute().await.map_err(|error| Error::of(format!("ask for neighbour {ip}"), error))?;
        while Instant::now() < deadline {
            match self.neighbour_state(ip, index).await? {
                Some(Reachable) => return Ok(true),
                Some(Probe) => sleep(GLANCE).await,
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Asks on one link who has an address, by ARP or neighbour discovery, and returns the MAC address that answers.
    pub async fn ask_for_owner(&self, ip: IpAddr, index: u32, deadline: Instant) -> Result<Option<String>> {
        use NeighbourState::{Delay, Probe, Reachable, Stale};
        // "Use" makes the kernel ask as if there were a packet to send.
        let question =
            self.handle.neighbours().add(index, ip).state(NeighbourState::None).flags(NeighbourFlags::Use);
        question.replace().execute().await.map_err(|error| Error::of(format!("ask for {ip}"), error))?;
        loop {
            let messages = collect("list neighbours", self.handle.neighbours().get().execute()).await?;
            let found = messages.iter().find(|known| known.header.ifindex == index && is_about(known, ip));
            if let Some(known) = found
                && matches!(known.header.state, Reachable | Stale | Delay | Probe)
            {
                return Ok(link_layer_address(known));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            sleep(GLANCE).await;
        }
    }

    async fn neighbour_state(&self, ip: IpAddr, index: u32) -> Result<Option<NeighbourState>> {
        let messages = collect("list neighbours", self.handle.neighbours().get().execute()).await?;
        let found = messages.iter().find(|message| message.header.ifindex == index && is_about(message, ip));
        Ok(found.map(|message| message.header.state))
    }

    pub(super) async fn names(&self) -> Result<Names> {
        Ok(names(&self.link_messages().await?))
    }

    async fn link_messages(&self) -> Result<Vec<LinkMessage>> {
        collect("list links", self.handle.link().get().execute()).await
    }
}

fn names(messages: &[LinkMessage]) -> Names {
    let named = |message: &LinkMessage| Some((message.header.index, facts::link_name(message)?.to_owned()));
    messages.iter().filter_map(named).collect()
}

fn link_layer_address(message: &NeighbourMessage) -> Option<String> {
    message.attributes.iter().find_map(|attribute| match attribute {
        NeighbourAttribute::LinkLayerAddress(bytes) => facts::mac(bytes),
        _ => None,
    })
}

fn is_about(message: &NeighbourMessage, ip: IpAddr) -> bool {
    message.attributes.iter().any(|attribute| match attribute {
        NeighbourAttribute::Destination(NeighbourAddress::Inet(v4)) => IpAddr::V4(*v4) == ip,
        NeighbourAttribute::Destination(NeighbourAddress::Inet6(v6)) => IpAddr::V6(*v6) == ip,
        _ => false,
    })
}

pub(super) async fn collect<T>(
    what: &str,
    answers: impl Stream<Item = std::result::Result<T, rtnetlink::Error>>,
) -> Result<Vec<T>> {
    answers.try_collect().await.map_err(|error| Error::of(what, error))
}
