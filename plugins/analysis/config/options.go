// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// The strategies of metrics.
const (
	Threshold      = "THRESHOLD"
	Previous       = "PREVIOUS"
	CanaryBaseline = "CANARY_BASELINE"
	CanaryPrimary  = "CANARY_PRIMARY"
)

// The directions of bad values.
const (
	Either = "EITHER"
	High   = "HIGH"
	Low    = "LOW"
)

// Options are the "with" of a stage ANALYSIS.
type Options struct {
	// Duration is how long the analysis lasts.
	Duration sdk.Duration `json:"duration" jsonschema:"required,exclusiveMinimum=0,withinTimeout"`
	// RestartThreshold is not used.
	RestartThreshold int `json:"restartThreshold" jsonschema:"minimum=0"`
	// Metrics are queries of numbers.
	Metrics []StageMetric `json:"metrics"`
	// Logs are queries of log entries.
	Logs []StageLog `json:"logs"`
	// HTTPS are requests.
	HTTPS []StageHTTP `json:"https"`
	// DryRun evaluates and logs everything, and the stage succeeds whatever the verdicts are. Default false. PipeCD
	// does not read it.
	DryRun bool `json:"dryRun"`
}

// Metric is a query of numbers, and what is expected of them.
type Metric struct {
	// Strategy is THRESHOLD, which compares with limits; PREVIOUS, which compares with the last successful analysis; or
	// CANARY_BASELINE or CANARY_PRIMARY, which compare two variants. Default THRESHOLD.
	Strategy string `json:"strategy" jsonschema:"enum=THRESHOLD,enum=PREVIOUS,enum=CANARY_BASELINE,enum=CANARY_PRIMARY"`
	// Provider is the name of one of the analysis providers.
	Provider string `json:"provider" jsonschema:"minLength=1"`
	// Query is the query. It may hold variables.
	Query string `json:"query" jsonschema:"minLength=1"`
	// Expected is the range of good values (THRESHOLD).
	Expected *Expected `json:"expected"`
	// Interval is the time between two queries, and the time that each looks back.
	Interval sdk.Duration `json:"interval" jsonschema:"exclusiveMinimum=0"`
	// FailureLimit is how many queries may fail. Default 0.
	FailureLimit int `json:"failureLimit" jsonschema:"minimum=0"`
	// SkipOnNoData takes a query without data for good. Default false.
	SkipOnNoData bool `json:"skipOnNoData"`
	// Timeout bounds one query. Default 30s.
	Timeout sdk.Duration `json:"timeout" jsonschema:"exclusiveMinimum=0"`
	// Deviation is the direction of bad values. Default EITHER.
	Deviation string `json:"deviation" jsonschema:"enum=EITHER,enum=LOW,enum=HIGH"`
	// CanaryArgs are variables of the query for canary.
	CanaryArgs map[string]string `json:"canaryArgs"`
	// BaselineArgs are variables of the query for baseline.
	BaselineArgs map[string]string `json:"baselineArgs"`
	// PrimaryArgs are variables of the query for primary.
	PrimaryArgs map[string]string `json:"primaryArgs"`
	// Step is the time between two samples of a query. Default: 1m, or the interval if it is shorter (THRESHOLD); a
	// tenth of the interval, from 1s to 1m (other strategies). PipeCD does not read it.
	Step sdk.Duration `json:"step" jsonschema:"exclusiveMinimum=0"`
}

// Expected is a range of good values, its ends included.
type Expected struct {
	// Min is the least good value.
	Min *float64 `json:"min"`
	// Max is the greatest good value.
	Max *float64 `json:"max"`
}

// Log is a query of log entries, and how many are good.
type Log struct {
	// Provider is the name of one of the analysis providers.
	Provider string `json:"provider" jsonschema:"minLength=1"`
	// Query is the query. It may hold variables.
	Query string `json:"query" jsonschema:"minLength=1"`
	// Expected is how many entries an interval may have. Default: none, which is a max of 0. PipeCD does not read it.
	Expected *Expected `json:"expected"`
	// Interval is the time between two queries, and the time that each looks back.
	Interval sdk.Duration `json:"interval" jsonschema:"exclusiveMinimum=0"`
	// FailureLimit is how many queries may fail. Default 0.
	FailureLimit int `json:"failureLimit" jsonschema:"minimum=0"`
	// SkipOnNoData takes a query without data for good. Default false.
	SkipOnNoData bool `json:"skipOnNoData"`
	// Timeout bounds one query. Default 30s.
	Timeout sdk.Duration `json:"timeout" jsonschema:"exclusiveMinimum=0"`
}

// HTTP is a request, and the answer that is expected.
type HTTP struct {
	// URL is requested. It may hold variables.
	URL string `json:"url" jsonschema:"minLength=1"`
	// Method is the HTTP method. Default GET.
	Method string `json:"method"`
	// Headers are sent. A key that is there twice is sent twice.
	Headers []Header `json:"headers"`
	// HeadersFrom are names of httpHeaders of the piped configuration, whose values are secrets that are not in Git.
	// PipeCD does not read it.
	HeadersFrom []string `json:"headersFrom" jsonschema:"minLength=1"`
	// ExpectedCode is the good status. Default: 200 to 299.
	ExpectedCode int `json:"expectedCode" jsonschema:"minimum=100,maximum=599"`
	// ExpectedResponse is the good body, without blanks at both ends. Default: any body.
	ExpectedResponse string `json:"expectedResponse"`
	// Interval is the time between two requests.
	Interval sdk.Duration `json:"interval" jsonschema:"exclusiveMinimum=0"`
	// FailureLimit is how many requests may fail. Default 0.
	FailureLimit int `json:"failureLimit" jsonschema:"minimum=0"`
	// SkipOnNoData takes a request without an answer for good. Default false.
	SkipOnNoData bool `json:"skipOnNoData"`
	// Timeout bounds one request. Default 30s.
	Timeout sdk.Duration `json:"timeout" jsonschema:"exclusiveMinimum=0"`
}

// Header is one header of a request.
type Header struct {
	// Key is the name of the header.
	Key string `json:"key"`
	// Value is its value.
	Value string `json:"value"`
}

// TemplateRef names a template of the kind that the entry is of.
type TemplateRef struct {
	// Name is the name of the template in the file of the kind AnalysisTemplate in the folder .pipe.
	Name string `json:"name" jsonschema:"required"`
	// AppArgs are variables of the query.
	AppArgs map[string]string `json:"appArgs"`
}

// StageMetric is a metric of a stage, which may stem from a template: keys of the stage win.
type StageMetric struct {
	Metric
	// Template is where the keys come from that the stage does not have.
	Template *TemplateRef `json:"template"`

	given json.RawMessage
}

// StageLog is a log of a stage, which may stem from a template: keys of the stage win.
type StageLog struct {
	Log
	// Template is where the keys come from that the stage does not have.
	Template *TemplateRef `json:"template"`

	given json.RawMessage
}

// StageHTTP is a request of a stage, which may stem from a template: keys of the stage win.
type StageHTTP struct {
	HTTP
	// Template is where the keys come from that the stage does not have.
	Template *TemplateRef `json:"template"`

	given json.RawMessage
}

// UnmarshalJSON keeps the keys of the stage, which are laid over those of the template.
func (m *StageMetric) UnmarshalJSON(data []byte) error {
	type plain StageMetric
	m.given = append(json.RawMessage(nil), data...)
	return json.Unmarshal(data, (*plain)(m))
}

// UnmarshalJSON keeps the keys of the stage, which are laid over those of the template.
func (l *StageLog) UnmarshalJSON(data []byte) error {
	type plain StageLog
	l.given = append(json.RawMessage(nil), data...)
	return json.Unmarshal(data, (*plain)(l))
}

// UnmarshalJSON keeps the keys of the stage, which are laid over those of the template.
func (h *StageHTTP) UnmarshalJSON(data []byte) error {
	type plain StageHTTP
	h.given = append(json.RawMessage(nil), data...)
	return json.Unmarshal(data, (*plain)(h))
}

// Application are the plugin's options in an application configuration.
type Application struct {
	// AppCustomArgs are variables of queries: {{ .AppCustomArgs.NAME }}.
	AppCustomArgs map[string]string `json:"appCustomArgs"`
}
