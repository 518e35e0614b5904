// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

// What a metric, a log and a request need where no template gives it.
var (
	metricNeeds = []string{"provider", "query", "interval"}
	logNeeds    = []string{"provider", "query", "interval"}
	httpNeeds   = []string{"url", "interval"}
)

// longEnough says that the durations of these keys are at least Shortest.
func longEnough(keys ...string) map[string]any {
	least := map[string]any{}
	for _, key := range keys {
		least[key] = Shortest.String()
	}
	return least
}

// ExtendSchema says how long the intervals may be.
func (Options) ExtendSchema(schema map[string]any) {
	schema["shorter"] = map[string]any{
		"metrics[].interval": "duration", "logs[].interval": "duration", "https[].interval": "duration",
	}
}

// ExtendSchema is for a metric of a template file.
func (Metric) ExtendSchema(schema map[string]any) {
	schema["required"] = metricNeeds
	schema["atLeast"] = longEnough("interval", "step")
	schema["allOf"] = []any{thresholdNeeds(), enoughSamples()}
}

// ExtendSchema is for a metric of a stage.
func (StageMetric) ExtendSchema(schema map[string]any) {
	orTemplate(schema, map[string]any{"required": metricNeeds, "allOf": []any{thresholdNeeds()}})
	schema["allOf"] = []any{enoughSamples()}
	schema["atLeast"] = longEnough("interval", "step")
}

// ExtendSchema is for a log of a template file.
func (Log) ExtendSchema(schema map[string]any) {
	schema["required"] = logNeeds
	schema["atLeast"] = longEnough("interval")
}

// ExtendSchema is for a log of a stage.
func (StageLog) ExtendSchema(schema map[string]any) {
	orTemplate(schema, map[string]any{"required": logNeeds})
	schema["atLeast"] = longEnough("interval")
}

// ExtendSchema is for a request of a template file.
func (HTTP) ExtendSchema(schema map[string]any) {
	schema["required"] = httpNeeds
	schema["atLeast"] = longEnough("interval")
}

// ExtendSchema is for a request of a stage.
func (StageHTTP) ExtendSchema(schema map[string]any) {
	orTemplate(schema, map[string]any{"required": httpNeeds})
	schema["atLeast"] = longEnough("interval")
}

// orTemplate says what an entry without a template needs.
func orTemplate(schema, needs map[string]any) {
	schema["if"] = map[string]any{"required": []string{"template"}}
	schema["else"] = needs
}

// thresholdNeeds says that a metric with limits has one.
func thresholdNeeds() map[string]any {
	required := func(key string) any { return map[string]any{"required": []string{key}} }
	return map[string]any{
		"if": map[string]any{"properties": map[string]any{"strategy": map[string]any{"enum": []string{Threshold}}}},
		"then": map[string]any{
			"required":   []string{"expected"},
			"properties": map[string]any{"expected": map[string]any{"anyOf": []any{required("min"), required("max")}}},
		},
	}
}

// enoughSamples says how many samples a comparison of two sides needs.
func enoughSamples() map[string]any {
	return map[string]any{
		"if": map[string]any{"required": []string{"strategy"}, "properties": map[string]any{
			"strategy": map[string]any{"enum": []string{Previous, CanaryBaseline, CanaryPrimary}},
		}},
		"then": map[string]any{"fits": map[string]any{
			"step": map[string]any{"into": "interval", "times": MinSamples - 1, "least": shortestStep.String()},
		}},
	}
}

// ExtendSchema says that the limits are in their order.
func (Expected) ExtendSchema(schema map[string]any) {
	schema["atMost"] = map[string]any{"min": "max"}
}

// ExtendSchema says which keys each type of provider has.
func (Provider) ExtendSchema(schema map[string]any) {
	var rules []any
	for _, each := range []struct {
		name, definition string
		needed           bool
	}{
		{Prometheus, "prometheus", true}, {Datadog, "datadog", true}, {Stackdriver, "stackdriver", false},
		{CloudWatch, "cloudwatch", true},
	} {
		then := map[string]any{"properties": map[string]any{
			"config": map[string]any{"$ref": "#/definitions/" + each.definition},
		}}
		if each.needed {
			then["required"] = []string{"config"}
		}
		rules = append(rules, map[string]any{
			"if": map[string]any{"required": []string{"type"},
				"properties": map[string]any{"type": map[string]any{"const": each.name}}},
			"then": then,
		})
	}
	schema["allOf"] = rules
}

// ExtendSchema says that both keys are needed, in one form or the other.
func (DatadogConfig) ExtendSchema(schema map[string]any) {
	either := func(a, b string) any {
		return map[string]any{"anyOf": []any{
			map[string]any{"required": []string{a}}, map[string]any{"required": []string{b}},
		}}
	}
	schema["allOf"] = []any{
		either("apiKeyFile", "apiKeyData"), either("applicationKeyFile", "applicationKeyData"),
	}
}
