package urls

import (
	"fmt"
	"strings"
)

// Rule is one line of Options.Strip. It says for which parameters it is, and whether
// they are removed:
//
//	NAME[@HOST][=off|=random]
//
// NAME is the name of a parameter of the query, in any case. Characters that are not
// ASCII are percent-encoded. "NAME*" is all names that begin with NAME. ";NAME" is a
// parameter of a path segment (";jsessionid"). "NAME&OTHER" is NAME if the query has
// OTHER, too. "*" is every parameter of queries and of paths. HOST restricts the rule
// to a host and the hosts below it.
//
// Without "=" the parameter is removed. "=random" removes it only when its value looks
// like a session id: 26 or more letters and digits, nothing else, and at least four
// changes between letters and digits. A UUID has hyphens, and stays. "=off" keeps the
// parameter. If several rules are for one parameter, the last one decides. A rule with
// "&" can only remove: if it kept NAME beside OTHER, and OTHER was removed, the form of
// the form would lack NAME.
type Rule struct {
	name    string // lower case, without "*" and ";"
	prefix  bool
	segment bool
	with    string
	host    string
	verdict verdict
}

type verdict uint8

const (
	remove verdict = iota
	removeRandom
	leave
)

// ParseRule reads a rule.
func ParseRule(text string) (Rule, error) {
	var r Rule
	rest, verdict, _ := strings.Cut(strings.ToLower(text), "=")
	switch verdict {
	case "":
		r.verdict = remove
	case "random":
		r.verdict = removeRandom
	case "off":
		r.verdict = leave
	default:
		return Rule{}, fmt.Errorf("rule %q ends neither with =off nor with =random", text)
	}
	rest, host, hosted := strings.Cut(rest, "@")
	if r.host = strings.TrimSuffix(host, "."); hosted {
		if u, refusal := Parse("http://" + r.host); refusal != Accepted || u.Host() != r.host {
			return Rule{}, fmt.Errorf("rule %q is for %q, which is not a host in canonical form", text, host)
		}
	}
	rest, r.segment = strings.CutPrefix(rest, ";")
	rest, r.with, _ = strings.Cut(rest, "&")
	r.name, r.prefix = strings.CutSuffix(rest, "*")
	for _, name := range []string{r.name, r.with} {
		if strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune("#&;*/?", c) }) {
			return Rule{}, fmt.Errorf("rule %q has a name %q that no parameter can have", text, name)
		}
	}
	switch {
	case r.name == "" && !r.prefix:
		return Rule{}, fmt.Errorf("rule %q names no parameter", text)
	case r.segment && r.with != "":
		return Rule{}, fmt.Errorf("rule %q asks for two parameters of a path segment", text)
	case r.with != "" && r.verdict != remove:
		return Rule{}, fmt.Errorf("rule %q asks for two parameters, and may not end with =%s", text, verdict)
	}
	return r, nil
}

func (r *Rule) covers(host string) bool {
	return r.host == "" || IsBelow(strings.TrimSuffix(host, "."), r.host)
}

// DefaultStrip are the rules of a new crawl. A crawl's definition has all of them, so
// that a longer list does not change the form of a running crawl.
//
// Tracking parameters are those that Firefox and Brave strip from queries, and those
// in the advertisers' own manuals: scripts read them, servers do not. Names that may
// choose a page (ref, source, id, lang, page) are not on the list.
func DefaultStrip() []string {
	return append(strings.Fields(tracking), strings.Fields(sessions)...)
}

const tracking = `
	utm_* mtm_* pk_campaign pk_kwd pk_keyword pk_medium pk_source pk_content pk_cid piwik_campaign piwik_kwd
	gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _ga _gl
	fbclid fb_action_ids fb_action_types fb_ref fb_source mibextid igshid igsh
	msclkid yclid ysclid _openstat twclid ttclid li_fat_id epik rdt_cid sccid
	mc_cid mc_eid mkt_tok _hsenc _hsmi __hstc __hssc __hsfp hsctatracking
	vero_id vero_conv oly_anon_id oly_enc_id wickedid _kx _bta_tid _bta_c
	ml_subscriber ml_subscriber_hash rb_clickid irclickid dm_i s_kwcid ef_id`

// sessions are removed if their name or their value leaves no doubt. cfid belongs to
// ColdFusion only beside its cftoken. s belongs to vBulletin if it has 32 hexadecimal
// digits; otherwise it is the text of a search, as in WordPress.
const sessions = `
	;jsessionid jsessionid phpsessid aspsessionid* cfid&cftoken cftoken
	s=random sid=random sessid=random sessionid=random session_id=random ;sid=random
	oscsid=random zenid=random xtcsid=random`
