// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import (
	"encoding/json"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// PluginCalls is the document of pipedeck plugin calls, and of pipedeck plugin show.
type PluginCalls struct {
	Head
	// Calls are in the order in which they began.
	Calls []PluginCall `json:"calls"`
}

// PluginCallLine is an event line of pipedeck plugin calls --follow.
type PluginCallLine struct {
	LineHead
	PluginCall
}

// PluginCall is one call between piped and a plugin.
type PluginCall struct {
	// ID names it in pipedeck plugin calls.
	ID string `json:"id"`
	// StartedAt is when it began; left out in a recording.
	StartedAt string `json:"started_at,omitempty" format:"date-time"`
	// Direction is TO_PLUGIN or TO_PIPED.
	Direction string `json:"direction" words:"direction"`
	// Plugin is the name of the plugin; empty where piped cannot distinguish those that call over loopback.
	Plugin string `json:"plugin"`
	// Method is the full gRPC method.
	Method string `json:"method"`
	// Build is the beginning of the SHA-256 of the plugin's program.
	Build string `json:"build"`
	// Deployment is the id of the deployment that it is about.
	Deployment string `json:"deployment"`
	// Stage is the id of the stage.
	Stage string `json:"stage"`
	// StageName is the type of the stage, where the call names it.
	StageName string `json:"stage_name"`
	// Code is the name of the gRPC code; empty while the call runs.
	Code string `json:"code"`
	// Detail is the text of an error, or the status with which a stage ended.
	Detail string `json:"detail"`
	// Failed says that the code is not OK, or that the stage failed.
	Failed bool `json:"failed"`
	// Millis is how long it took, in milliseconds; 0 while it runs.
	Millis float64 `json:"millis"`
	// RequestBytes is the size of the request.
	RequestBytes int64 `json:"request_bytes"`
	// ResponseBytes is the size of the answer.
	ResponseBytes int64 `json:"response_bytes"`
	// Request is the message, with secrets masked; left out in a list. Bytes that hold JSON or a text are shown as
	// such.
	Request json.RawMessage `json:"request,omitempty"`
	// Response is the answer; left out in a list, and where there is none.
	Response json.RawMessage `json:"response,omitempty"`
	CallMarks
}

// CallMarks say what is special about a call.
type CallMarks struct {
	// Clipped says that a message was too long, so that values are missing.
	Clipped bool `json:"clipped"`
	// Rerun says that it belongs to a re-run of the stage, which is no part of the deployment.
	Rerun bool `json:"rerun,omitempty"`
}

// NewPluginCall returns the object of a call.
func NewPluginCall(c *deckv1.PluginCall) PluginCall {
	return PluginCall{
		ID: c.GetId(), StartedAt: moment(c.GetStartedAt()),
		Direction: strings.TrimPrefix(c.GetDirection().String(), "DIRECTION_"), Plugin: c.GetPlugin(),
		Method: c.GetMethod(), Build: c.GetBuild(), Deployment: c.GetDeploymentId(), Stage: c.GetStageId(),
		StageName: c.GetStageName(), Code: c.GetCode(), Detail: c.GetDetail(), Failed: c.GetFailed(),
		Millis:       float64(c.GetDuration().AsDuration()) / float64(time.Millisecond),
		RequestBytes: c.GetRequestBytes(), ResponseBytes: c.GetResponseBytes(),
		Request: rawJSON(c.GetRequestJson()), Response: rawJSON(c.GetResponseJson()),
		CallMarks: CallMarks{c.GetRequestClipped() || c.GetResponseClipped(), c.GetRerun()},
	}
}

// rawJSON is nil for a text that is no JSON.
func rawJSON(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

// NewPluginCallLine returns the event line of a call.
func NewPluginCallLine(c *deckv1.PluginCall) PluginCallLine {
	return PluginCallLine{NewLineHead(c.GetStartedAt().AsTime(), "plugin_call"), NewPluginCall(c)}
}
