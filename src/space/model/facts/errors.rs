use super::language::Language::{Arabic, English, French, Portuguese};
use super::notice::Block::{Heading, Php, Text};
use super::notice::Notice;

/// Errors of programs and databases, sent with status 200. Titles, headings and the messages of programs are
/// the real ones, from memory [M].
pub(super) const NOTICES: &[Notice] = &[
    Notice {
        language: English,
        title: "Database Error",
        blocks: &[Heading("Error establishing a database connection")],
    },
    Notice {
        language: English,
        title: "WordPress › Error",
        blocks: &[
            Text("There has been a critical error on this website."),
            Text("Learn more about troubleshooting WordPress."),
        ],
    },
    Notice {
        language: English,
        title: "",
        blocks: &[Php(
            "Fatal error",
            "Uncaught Error: Call to undefined function mysql_connect() in /home/site/public_html/config.php:12 Stack trace: #0 /home/site/public_html/index.php(3): require_once() #1 {main} thrown",
            "/home/site/public_html/config.php",
            "12",
        )],
    },
    Notice {
        language: English,
        title: "",
        blocks: &[
            Php(
                "Warning",
                "mysqli_connect(): (HY000/1045): Access denied for user web@localhost (using password: YES)",
                "/var/www/html/includes/db.php",
                "7",
            ),
            Text("Could not connect to the database."),
        ],
    },
    Notice {
        language: English,
        title: "",
        blocks: &[Php(
            "Parse error",
            "syntax error, unexpected end of file",
            "/home/site/public_html/wp-config.php",
            "92",
        )],
    },
    Notice {
        language: English,
        title: "Runtime Error",
        blocks: &[
            Heading("Server Error in '/' Application."),
            Heading("Runtime Error"),
            Text(
                "Description: An application error occurred on the server. The current custom error settings for this application prevent the details of the application error from being viewed remotely.",
            ),
        ],
    },
    Notice {
        language: English,
        title: "404 Not Found",
        blocks: &[Heading("Not Found"), Text("The requested URL / was not found on this server.")],
    },
    Notice {
        language: English,
        title: "Error: 500 Internal Server Error",
        blocks: &[
            Heading("500 Internal Server Error"),
            Text(
                "Error displaying the error page: Application Instantiation Error: Could not connect to MySQL.",
            ),
        ],
    },
    Notice {
        language: French,
        title: "Erreur de base de données",
        blocks: &[Heading("Erreur lors de la connexion à la base de données")],
    },
    Notice {
        language: Portuguese,
        title: "Erro de base de dados",
        blocks: &[Heading("Erro ao estabelecer uma ligação à base de dados")],
    },
    Notice {
        language: Arabic,
        title: "خطأ في قاعدة البيانات",
        blocks: &[Heading("خطأ في الاتصال بقاعدة البيانات")],
    },
];
