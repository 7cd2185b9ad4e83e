/// One step of a hostile server on a connection.
///
/// After the last act of a list the connection continues with the next request, unless an act has ended it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends the same bytes this many times.
    Repeat(Vec<u8>, u64),
    /// Sends this byte once a second, without end.
    Drip(u8),
    /// Must come first. Once the server has received more than this many requests whose acts begin with
    /// `Turn`, the acts inside replace the rest.
    Turn(u32, Vec<Self>),
    /// Waits until the client sends more.
    Hear,
    /// Reads and discards everything, without a response, until the client closes the connection.
    Stall,
    /// Ends the connection (FIN).
    Close,
    /// Closes the connection so that the client's next operation on it fails (RST).
    Reset,
}

impl Act {
    /// So often that every client gives up first.
    pub(crate) const WITHOUT_END: u64 = u64::MAX;

    /// Sends the same bytes without end, in pieces the size of a TLS record.
    pub(crate) fn endless(bytes: &[u8]) -> Self {
        let times = (16 * 1024_usize).div_ceil(bytes.len().max(1));
        Self::Repeat(bytes.repeat(times), Self::WITHOUT_END)
    }
}
