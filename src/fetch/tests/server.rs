use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server on loopback that behaves as a test needs.
pub(crate) struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<SeenRequest>>,
}

#[derive(Default)]
struct SeenRequest {
    connections: usize,
    /// The number of these that the client has ended.
    ended: usize,
    requests: Vec<Vec<u8>>,
}

/// One connection to the server.
pub(crate) struct Conversation {
    stream: TcpStream,
    seen: Arc<Mutex<SeenRequest>>,
}

impl Server {
    /// Handles every connection with `talk`.
    pub(crate) async fn talking<F, T>(talk: F) -> Self
    where
        F: Fn(Conversation) -> T + Send + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<SeenRequest>>::default();
        let there = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                there.lock().unwrap().connections += 1;
                tokio::spawn(talk(Conversation { stream, seen: there.clone() }));
            }
        });
        Self { address, seen }
    }

    /// Reads one request, sends this reply and closes the connection.
    pub(crate) async fn replying(reply: impl Into<Vec<u8>>) -> Self {
        let reply: Arc<[u8]> = reply.into().into();
        Self::talking(move |mut talk| {
            let reply = reply.clone();
            async move {
                talk.hear().await;
                talk.say(&reply).await;
                talk.finish().await;
            }
        })
        .await
    }

    /// Sends this before it reads anything, and waits.
    pub(crate) async fn saying(flight: &[u8]) -> Self {
        let flight: Arc<[u8]> = flight.into();
        Self::talking(move |mut talk| {
            let flight = flight.clone();
            async move {
                talk.say(&flight).await;
                talk.wait().await;
            }
        })
        .await
    }

    /// Sends this in response to every request on a connection.
    pub(crate) async fn repeating(reply: impl Into<Vec<u8>>) -> Self {
        let reply: Arc<[u8]> = reply.into().into();
        Self::talking(move |mut talk| {
            let reply = reply.clone();
            async move {
                while !talk.hear().await.is_empty() {
                    talk.say(&reply).await;
                }
            }
        })
        .await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.lock().unwrap().connections
    }

    /// The number of connections that the client ended while the server waited for a request.
    pub(crate) fn ended(&self) -> usize {
        self.seen.lock().unwrap().ended
    }

    /// The request heads received, over all connections.
    pub(crate) fn requests(&self) -> Vec<Vec<u8>> {
        self.seen.lock().unwrap().requests.clone()
    }
}

impl Conversation {
    /// Reads a request head; empty when the client is gone.
    pub(crate) async fn hear(&mut self) -> Vec<u8> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match self.stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => {
                    self.seen.lock().unwrap().ended += 1;
                    return Vec::new();
                }
            }
        }
        self.seen.lock().unwrap().requests.push(head.clone());
        head
    }

    /// Sends bytes; returns whether that succeeded.
    pub(crate) async fn say(&mut self, bytes: &[u8]) -> bool {
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
