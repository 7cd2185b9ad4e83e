use crate::records::table::table;

table! {
    /// A row per server, that is per address that responded at least once, over the whole survey. Requests to
    /// addresses that never responded are in the table exchanges.
    ServerRow in "servers";

    /// The address, IPv4 or IPv6. An address that embeds an IPv4 address (NAT64, 6to4) is recorded as that
    /// IPv4 address.
    address: String, "", "192.0.2.7", "0.1";
    /// Hosts that were requested at this address.
    hosts: u32, "hosts", "12", "0.1";
    /// Sites of these hosts.
    sites: u32, "sites", "9", "0.1";
    /// The country of the address, ISO 3166-1; null without a database that knows it.
    country: Option<String>, "", "KE", "0.1";
    /// The autonomous system of the address.
    asn: Option<u32>, "", "64500", "0.1";
    /// The organisation that runs the autonomous system.
    as_org: Option<String>, "", "Example Networks", "0.1";
    /// The header `Server`, as sent last.
    server: Option<String>, "", "nginx", "0.1";
    /// Requests to this address. In a survey that was stopped they include those of trees that have not ended
    /// and so have no rows in `exchanges` yet.
    requests: u64, "requests", "410", "0.1";
    /// Bytes received from it on the wire.
    received_bytes: u64, "bytes", "7340112", "0.1";
    /// Busy time of the server, summed over the exchanges.
    busy_ms: f64, "ms", "201880.0", "0.1";
    /// The shortest time from the end of one exchange to the start of the next; null with a single exchange.
    smallest_gap_ms: Option<f64>, "ms", "2000.4", "0.1";
    /// The largest number of exchanges in progress at one moment.
    most_parallel: u32, "exchanges", "1", "0.1";
    /// The largest number of exchanges that began within any 60 seconds, counted in whole seconds: too high
    /// by up to the exchanges of one second.
    most_requests_per_minute: u32, "requests", "19", "0.1";
    /// Bytes sent to it on the wire.
    sent_bytes: u64, "bytes", "90110", "0.1";
    /// Connections opened to it.
    connections: u64, "connections", "44", "0.1";
    /// The time that requests of the server's other users would wait for their turn without the survey, on
    /// average over their requests in the hours in which the survey sends requests; known in simulations
    /// only.
    others_wait_ms: Option<f64>, "ms", "210.5", "0.1";
    /// The same while the server is surveyed; null also when the load exceeds its capacity in one of the
    /// hours and waits grow without end.
    others_wait_surveyed_ms: Option<f64>, "ms", "212.3", "0.1";
    /// The capacity of its link; known in simulations only.
    link_bits_per_second: Option<f64>, "bit/s", "512000.0", "0.1";
    /// The best transfer rate of its responses, which determines the pauses for its link; null where no
    /// response was large enough to measure it.
    best_bits_per_second: Option<f64>, "bit/s", "310400.0", "0.1";
    /// Requests of the server's other users in the hours in which the survey sends requests; known in
    /// simulations only.
    others_requests: Option<u64>, "requests", "81200", "0.1";
    /// The average time of their responses without the survey: wait, work of the server and transfer
    /// together; known in simulations only.
    others_response_ms: Option<f64>, "ms", "905.0", "0.1";
    /// The same while the server is surveyed; null also where `others_wait_surveyed_ms` is.
    others_response_surveyed_ms: Option<f64>, "ms", "911.8", "0.1";
    /// The share by which their response time increased in the worst hour, among hours in which they sent
    /// more than a hundred requests; null where there is none, and where waits grew without end.
    others_worst_hour: Option<f64>, "", "0.031", "0.1";
}
