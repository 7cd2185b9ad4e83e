/// The usual offset of a country's clocks from UTC, in minutes; none for what is no country. The name is that of
/// ISO 3166-1 (`KE`) or of its domain (`ke`), in any case.
///
/// It is winter time, so that summer's clocks are an hour ahead of it. Where a country has several zones it is that
/// of most of its people: the offset of a server may be wrong by up to 3 h in Brazil and the United States, 4 h in
/// Canada, 8 h in Russia.
///
/// ```
/// use ccsurvey::address::usual_offset;
/// assert_eq!(usual_offset("ke"), Some(180));
/// assert_eq!(usual_offset("IN"), Some(330));
/// assert_eq!(usual_offset("uk"), usual_offset("GB"));
/// assert_eq!(usual_offset("com"), None);
/// ```
#[must_use]
pub fn usual_offset(country: &str) -> Option<i32> {
    let country = country.to_ascii_uppercase();
    let code = if country == "UK" { "GB" } else { country.as_str() };
    let is_here = |(_, codes): &&(i32, &str)| codes.split(' ').any(|known| known == code);
    OFFSETS.iter().find(is_here).map(|(minutes, _)| *minutes)
}

/// From the time zone database of IANA, version 2025b: the least offset of the year 2026.
#[rustfmt::skip]
const OFFSETS: [(i32, &str); 28] = [
    (-660, "AS NU"),
    (-600, "CK PF"),
    (-480, "PN"),
    (-360, "BZ CR GT HN MX NI SV"),
    (-300, "BS CA CO CU EC HT JM KY PA PE TC US"),
    (-240, "AG AI AW BB BL BM BO BQ CL CW DM DO GD GP GY KN LC MF MQ MS PR SX TT VC VE VG VI"),
    (-180, "AR BR FK GF PM PY SR UY"),
    (-120, "GL GS"),
    (-60, "CV"),
    (0, "BF CI FO GB GG GH GM GN GW IE IM IS JE LR ML MR PT SH SL SN ST TG"),
    (60, "AD AL AO AT BA BE BJ CD CF CG CH CM CZ DE DK DZ EH ES FR GA GI GQ HR HU IT LI LU MA MC ME MK MT NE NG NL NO \
          PL RS SE SI SJ SK SM TD TN VA"),
    (120, "AX BG BI BW CY EE EG FI GR IL LB LS LT LV LY MD MW MZ NA PS RO RW SD SS SZ UA ZA ZM ZW"),
    (180, "BH BY DJ ER ET IQ JO KE KM KW MG QA RU SA SO SY TR TZ UG YE YT"),
    (210, "IR"),
    (240, "AE AM AZ GE MU OM RE SC"),
    (270, "AF"),
    (300, "KZ MV PK TF TJ TM UZ"),
    (330, "IN LK"),
    (345, "NP"),
    (360, "BD BT IO KG"),
    (390, "CC MM"),
    (420, "CX ID KH LA TH VN"),
    (480, "BN CN HK MN MO MY PH SG TW"),
    (540, "JP KP KR PW TL"),
    (600, "AU GU MP PG"),
    (660, "FM NC NF SB VU"),
    (720, "AQ FJ KI MH NR NZ TV UM WF"),
    (780, "TK TO WS"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_west_of_greenwich_are_behind_and_those_east_of_it_ahead() {
        for (minutes, country) in [
            (-660, "NU"),
            (-600, "pf"),
            (-480, "PN"),
            (-360, "MX"),
            (-300, "US"),
            (-240, "bo"),
            (-180, "AR"),
            (-120, "GS"),
            (-60, "CV"),
            (0, "gh"),
            (0, "uk"),
            (60, "Ng"),
            (120, "za"),
            (180, "KE"),
            (345, "np"),
            (540, "jp"),
            (780, "WS"),
        ] {
            assert_eq!(usual_offset(country), Some(minutes), "{country}");
        }
        for other in ["", " ", "com", "k", "KE TZ", "xn--fiqs8s", "eu"] {
            assert_eq!(usual_offset(other), None, "{other}");
        }
    }

    #[test]
    fn every_country_stands_in_the_table_once() {
        let mut codes: Vec<&str> = OFFSETS.iter().flat_map(|(_, codes)| codes.split(' ')).collect();
        codes.sort_unstable();
        assert!(codes.is_sorted_by(|one, next| one < next));
        assert!(codes.iter().all(|code| code.len() == 2));
    }
}
