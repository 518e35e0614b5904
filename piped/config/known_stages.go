// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "encoding/json"

type waitOptions struct {
	// Duration is how long to wait.
	Duration Duration `json:"duration" config:"required"`
}

type waitApprovalOptions struct {
	// Approvers are the users who may approve. PipeCD's own plugin wants at least one.
	Approvers []string `json:"approvers"`
	// MinApproverNum is how many have to approve. Default 1.
	MinApproverNum int `json:"minApproverNum" config:"positive"`
}

type scriptRunOptions struct {
	// Run is the script, for /bin/sh.
	Run string `json:"run" config:"required"`
	// Env is the environment of the script.
	Env map[string]string `json:"env" config:"environment"`
	// OnRollback is the script that a rollback runs.
	OnRollback string `json:"onRollback"`
}

type analysisOptions struct {
	// Duration is how long the analysis lasts.
	Duration Duration `json:"duration" config:"required"`
	// RestartThreshold is read and not used, as in PipeCD.
	RestartThreshold int `json:"restartThreshold" config:"from=0"`
	// Metrics are queries of metrics.
	Metrics []analysisMetrics `json:"metrics"`
	// Logs are queries of logs.
	Logs []analysisLog `json:"logs"`
	// HTTPS are HTTP requests.
	HTTPS []analysisHTTP `json:"https"`
}

type analysisMetrics struct {
	// Strategy says what the metrics are compared with. Default THRESHOLD.
	Strategy string `json:"strategy" config:"oneof=THRESHOLD|PREVIOUS|CANARY_BASELINE|CANARY_PRIMARY"`
	// Provider is the name of one of the analysis providers.
	Provider string `json:"provider"`
	// Query is the query.
	Query string `json:"query"`
	// Expected is the range of good values (THRESHOLD).
	Expected analysisExpected `json:"expected"`
	// Interval is the time between two queries.
	Interval Duration `json:"interval" config:"positive"`
	// FailureLimit is how many queries may fail. Default 0.
	FailureLimit int `json:"failureLimit" config:"from=0"`
	// SkipOnNoData takes a query without data for good. Default false.
	SkipOnNoData bool `json:"skipOnNoData"`
	// Timeout bounds one query. Default 30s.
	Timeout Duration `json:"timeout" config:"positive"`
	// Deviation is the direction of bad values. Default EITHER.
	Deviation string `json:"deviation" config:"oneof=EITHER|LOW|HIGH"`
	// CanaryArgs are variables of the query for canary.
	CanaryArgs map[string]string `json:"canaryArgs"`
	// BaselineArgs are variables of the query for baseline.
	BaselineArgs map[string]string `json:"baselineArgs"`
	// PrimaryArgs are variables of the query for primary.
	PrimaryArgs map[string]string `json:"primaryArgs"`
	// Template is an analysis template to take the rest from.
	Template analysisTemplate `json:"template"`
}

type analysisExpected struct {
	// Min is the least good value.
	Min *float64 `json:"min"`
	// Max is the greatest good value.
	Max *float64 `json:"max"`
}

type analysisLog struct {
	// Provider is the name of one of the analysis providers.
	Provider string `json:"provider"`
	// Query is the query.
	Query string `json:"query"`
	// Interval is the time between two queries.
	Interval Duration `json:"interval" config:"positive"`
	// FailureLimit is how many queries may fail. Default 0.
	FailureLimit int `json:"failureLimit" config:"from=0"`
	// SkipOnNoData takes a query without data for good. Default false.
	SkipOnNoData bool `json:"skipOnNoData"`
	// Timeout bounds one query.
	Timeout Duration `json:"timeout" config:"positive"`
	// Template is an analysis template to take the rest from.
	Template analysisTemplate `json:"template"`
}

type analysisHTTP struct {
	// URL is requested.
	URL string `json:"url"`
	// Method is the HTTP method.
	Method string `json:"method"`
	// Headers are sent.
	Headers []analysisHeader `json:"headers"`
	// ExpectedCode is the good status.
	ExpectedCode int `json:"expectedCode" config:"from=100,to=599"`
	// ExpectedResponse is the good body.
	ExpectedResponse string `json:"expectedResponse"`
	// Interval is the time between two requests.
	Interval Duration `json:"interval" config:"positive"`
	// FailureLimit is how many requests may fail. Default 0.
	FailureLimit int `json:"failureLimit" config:"from=0"`
	// SkipOnNoData takes a request without an answer for good. Default false.
	SkipOnNoData bool `json:"skipOnNoData"`
	// Timeout bounds one request.
	Timeout Duration `json:"timeout" config:"positive"`
	// Template is an analysis template to take the rest from.
	Template analysisTemplate `json:"template"`
}

type analysisHeader struct {
	// Key is the name of the header.
	Key string `json:"key"`
	// Value is its value.
	Value string `json:"value"`
}

type analysisTemplate struct {
	// Name is the name of the template.
	Name string `json:"name"`
	// AppArgs are variables of the template.
	AppArgs map[string]string `json:"appArgs"`
}

type analysisApplication struct {
	// AppCustomArgs are variables of queries: {{ .AppCustomArgs.NAME }}.
	AppCustomArgs map[string]string `json:"appCustomArgs"`
}

type analysisConfig struct {
	// AnalysisProviders are where metrics and logs are queried.
	AnalysisProviders []analysisProvider `json:"analysisProviders"`
}

type analysisProvider struct {
	// Name is what stages choose the provider by.
	Name string `json:"name" config:"required"`
	// Type is PROMETHEUS, DATADOG or STACKDRIVER.
	Type string `json:"type" config:"required,oneof=PROMETHEUS|DATADOG|STACKDRIVER"`
	// Config is the address and the keys of the provider.
	Config json.RawMessage `json:"config"`
}
