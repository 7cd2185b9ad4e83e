use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server on loopback that behaves as a test needs.
pub(crate) struct Server {
    pub address: SocketAddr,
    recorded: Arc<Mutex<ServerRecord>>,
}

#[derive(Default)]
struct ServerRecord {
    connections: usize,
    /// The number of these that the client has ended.
    ended: usize,
    requests: Vec<Vec<u8>>,
}

/// One connection to the server.
pub(crate) struct Conversation {
    stream: TcpStream,
    recorded: Arc<Mutex<ServerRecord>>,
}

impl Server {
    /// Handles every connection with `script`.
    pub(crate) async fn scripted<F, T>(script: F) -> Self
    where
        F: Fn(Conversation) -> T + Send + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let recorded = Arc::<Mutex<ServerRecord>>::default();
        let state = recorded.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                state.lock().connections += 1;
                tokio::spawn(script(Conversation { stream, recorded: state.clone() }));
            }
        });
        Self { address, recorded }
    }

    /// Reads one request, sends this reply and closes the connection.
    pub(crate) async fn responding_once(reply: impl Into<Vec<u8>>) -> Self {
        let reply: Arc<[u8]> = reply.into().into();
        Self::scripted(move |mut conversation| {
            let reply = reply.clone();
            async move {
                conversation.read_request().await;
                conversation.send(&reply).await;
                conversation.finish().await;
            }
        })
        .await
    }

    /// Sends this before it reads anything, and waits.
    pub(crate) async fn sending_first(flight: &[u8]) -> Self {
        let flight: Arc<[u8]> = flight.into();
        Self::scripted(move |mut conversation| {
            let flight = flight.clone();
            async move {
                conversation.send(&flight).await;
                conversation.wait().await;
            }
        })
        .await
    }

    /// Sends this in response to every request on a connection.
    pub(crate) async fn responding(reply: impl Into<Vec<u8>>) -> Self {
        let reply: Arc<[u8]> = reply.into().into();
        Self::scripted(move |mut conversation| {
            let reply = reply.clone();
            async move {
                while !conversation.read_request().await.is_empty() {
                    conversation.send(&reply).await;
                }
            }
        })
        .await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn connections(&self) -> usize {
        self.recorded.lock().connections
    }

    /// The number of connections that the client ended while the server waited for a request.
    pub(crate) fn ended(&self) -> usize {
        self.recorded.lock().ended
    }

    /// The request heads received, over all connections.
    pub(crate) fn requests(&self) -> Vec<Vec<u8>> {
        self.recorded.lock().requests.clone()
    }
}

impl Conversation {
    /// Reads a request head; empty when the client is gone.
    pub(crate) async fn read_request(&mut self) -> Vec<u8> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match self.stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => {
                    self.recorded.lock().ended += 1;
                    return Vec::new();
                }
            }
        }
        self.recorded.lock().requests.push(head.clone());
        head
    }

    /// Sends bytes; returns whether that succeeded.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// Closes the connection and waits for the client to do so too.
    pub(crate) async fn finish(mut self) {
        let _ = self.stream.shutdown().await;
        let _ = self.stream.read_to_end(&mut Vec::new()).await;
    }

    /// Keeps the connection open until the client closes it.
    pub(crate) async fn wait(mut self) {
        let _ = self.stream.read_to_end(&mut Vec::new()).await;
    }

    /// Ends with RST instead of FIN.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }
}
