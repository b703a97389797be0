//! Lists of byte strings, each with its length before it.

pub fn encode<'a>(items: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    for item in items {
        out.extend_from_slice(&u32::try_from(item.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend_from_slice(item);
    }
    out
}

/// None if it was cut short.
pub fn decode(mut bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut items = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk()?;
        let (item, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        items.push(item.to_vec());
        bytes = rest;
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_out_as_it_went_in() {
        let items = [&b"one"[..], b"", b"three"];
        assert_eq!(decode(&encode(items)).unwrap(), items);
        assert_eq!(decode(&encode(items)[..9]), None);
    }
}
