/// One thing that a hostile server does on a connection.
///
/// After the last of a list the connection goes on with the next request, unless it has been ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// These bytes.
    Send(Vec<u8>),
    /// The same bytes so many times.
    Repeat(Vec<u8>, u64),
    /// One byte a second, always the same, without end.
    Drip(u8),
    /// First of the acts: from so many requests to the server on that began with such an act, these acts in their place.
    Turn(u32, Vec<Self>),
    /// Waits until the client sends more.
    Hear,
    /// Takes whatever comes and says nothing, until the client goes.
    Stall,
    /// Ends the connection (FIN).
    Close,
    /// Closes so that the client's next look at the connection is an error (RST).
    Reset,
}

impl Act {
    /// So often that every client goes before.
    pub(crate) const WITHOUT_END: u64 = u64::MAX;

    /// The same bytes without end, written in pieces of a TLS record's size.
    pub(crate) fn endless(bytes: &[u8]) -> Self {
        let times = (16 * 1024_usize).div_ceil(bytes.len().max(1));
        Self::Repeat(bytes.repeat(times), Self::WITHOUT_END)
    }
}
