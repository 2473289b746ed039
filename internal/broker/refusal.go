package broker

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// denial is Kafka's code for the missing right to make a request.
func denial(key kmsg.Key) int16 {
	switch decisions[key] {
	case byListener:
		return kerr.IllegalSaslState.Code
	case byGroup:
		return kerr.GroupAuthorizationFailed.Code
	case byTopic:
		return kerr.TopicAuthorizationFailed.Code
	case refused:
		switch key {
		case kmsg.CreateTopics, kmsg.DeleteTopics, kmsg.DeleteRecords, kmsg.CreatePartitions:
			return kerr.TopicAuthorizationFailed.Code
		}
		return kerr.ClusterAuthorizationFailed.Code
	}
	panic(fmt.Sprintf("broker: no refusal of %s", key.Name()))
}

// refuse is the response with which Kafka refuses a complete request: each topic, group and
// setting in it has the code.
func refuse(req kmsg.Request) kmsg.Response {
	resp := req.ResponseKind()
	decision, code := decisions[kmsg.Key(req.Key())], denial(kmsg.Key(req.Key()))
	from, to := reflect.ValueOf(req).Elem(), reflect.ValueOf(resp).Elem()
	if own := to.FieldByName("ErrorCode"); own.IsValid() && (decision == byGroup || decision == byListener) {
		own.SetInt(int64(code)) // Kafka does not look at the rest
		return resp
	}
	switch req := req.(type) { // whose parts have other names than in the response
	case *kmsg.DeleteTopicsRequest:
		for _, topic := range req.TopicNames {
			req.Topics = append(req.Topics, kmsg.DeleteTopicsRequestTopic{Topic: &topic})
		}
	case *kmsg.CreateACLsRequest:
		denyAll(from.FieldByName("Creations"), to.FieldByName("Results"), "", code)
	case *kmsg.DeleteACLsRequest:
		denyAll(from.FieldByName("Filters"), to.FieldByName("Results"), "", code)
	case *kmsg.AlterReplicaLogDirsRequest:
		for _, dir := range req.Dirs {
			deny(reflect.ValueOf(dir), to, code)
		}
	}
	deny(from, to, code)
	return resp
}

// deny fills a response, or a part of it, with the parts and names of the request, and with the
// code of their refusal. kmsg has the same names in both.
func deny(request, response reflect.Value, code int16) {
	if of := request.FieldByName("ResourceType"); of.IsValid() && of.Interface() == kmsg.ConfigResourceTypeTopic {
		code = kerr.TopicAuthorizationFailed.Code
	}
	for i := range response.NumField() {
		name, to := response.Type().Field(i).Name, response.Field(i)
		switch from := request.FieldByName(name); {
		case name == "ErrorCode":
			to.SetInt(int64(code))
		case name == "BaseOffset", name == "LowWatermark":
			to.SetInt(-1)
		case !from.IsValid():
		case from.Type() == to.Type():
			to.Set(from)
		case to.Kind() == reflect.Slice:
			denyAll(from, to, strings.TrimSuffix(name, "s"), code)
		}
	}
}

// denyAll appends a refused part to a list of a response for each item of the request. An item that
// is not a struct is the field called name of its part.
func denyAll(items, list reflect.Value, name string, code int16) {
	for i := range items.Len() {
		part := reflect.New(list.Type().Elem())
		part.Interface().(interface{ Default() }).Default()
		if item := items.Index(i); item.Kind() == reflect.Struct {
			deny(item, part.Elem(), code)
		} else {
			part.Elem().FieldByName(name).Set(item)
			part.Elem().FieldByName("ErrorCode").SetInt(int64(code))
		}
		list.Set(reflect.Append(list, part.Elem()))
	}
}

// refuseTransaction refuses partitions for a transaction. As with Kafka, no partition is added
// if one is not allowed.
func (d *clientListener) refuseTransaction(req *kmsg.AddPartitionsToTxnRequest) kmsg.Response {
	resp := refuse(req).(*kmsg.AddPartitionsToTxnResponse)
	for _, topic := range resp.Topics {
		for i := range topic.Partitions {
			if d.options.writable(topic.Topic) {
				topic.Partitions[i].ErrorCode = kerr.OperationNotAttempted.Code
			}
		}
	}
	return resp
}
