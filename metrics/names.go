package metrics

// Names of all metrics. They are what dashboards and alerts refer to, and are
// never renamed.
const (
	namePages         = "weft_pages_total"
	namePageBytes     = "weft_page_bytes_total"
	nameDuplicates    = "weft_duplicate_pages_total"
	nameExchanges     = "weft_exchanges_total"
	nameWireBytes     = "weft_exchange_wire_bytes_total"
	nameExchangeTime  = "weft_exchange_seconds"
	nameFirstByteTime = "weft_exchange_first_byte_seconds"
	nameRejected      = "weft_rejected_total"
	nameNormalized    = "weft_normalized_urls_total"
	nameDeduped       = "weft_deduped_urls_total"
	nameSettled       = "weft_settled_urls"
	nameFrontierURLs  = "weft_frontier_urls"
	nameFrontierDoms  = "weft_frontier_domains"
	nameVisitsOut     = "weft_visits_out"
	nameLag           = "weft_stage_lag_records"
	nameLedger        = "weft_ledger_happenings_total"
	nameCheckpoint    = "weft_ledger_checkpoint_timestamp_seconds"
	nameSlots         = "weft_fetch_slots_in_use"
	nameViolations    = "weft_politeness_violations_total"
	nameBreakers      = "weft_breakers_opened_total"
)

// Labels.
const (
	labelStage  = "stage"
	labelReason = "reason"
	labelClass  = "class"
	labelStatus = "status"
	labelState  = "state"
	labelTopic  = "topic"
	labelKind   = "kind"
	labelResult = "result"
)
