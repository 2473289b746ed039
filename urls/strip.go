package urls

import "strings"

// DefaultStrip are the rules of a new crawl. A crawl's definition holds them in
// full, so that a list that grows does not change the form of a running crawl.
//
// Tracking parameters are those of the query stripping of Firefox and of Brave,
// and of the advertisers' own manuals: scripts read them, servers do not. Names
// that a page may depend on (ref, source, id, lang, page) are not here, whatever
// they mostly are.
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

// sessions are removed where their name or their value leaves no doubt. cfid is
// ColdFusion's only beside its cftoken; s is vBulletin's with 32 hexadecimal digits,
// and else what is searched for, as in WordPress.
const sessions = `
	;jsessionid jsessionid phpsessid aspsessionid* cfid&cftoken cftoken
	s=random sid=random sessid=random sessionid=random session_id=random ;sid=random
	oscsid=random zenid=random xtcsid=random`
