// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Traffic says which requests each variant gets.
type Traffic struct {
	// Primary, Canary and Baseline are shares in percent; together they are 100.
	Primary, Canary, Baseline int
	// Match are the requests that go to the canary whatever the shares are: those that one of them describes.
	Match []Match
	// Mirror is nil where nothing is copied.
	Mirror *Mirror
	// SessionAffinity is nil where each request goes by the shares.
	SessionAffinity *SessionAffinity
}

// String is how a user reads it: "primary 90%, canary 10%, header x-canary to canary".
func (t Traffic) String() string {
	var parts []string
	for _, v := range []struct {
		name  string
		share int
	}{{"primary", t.Primary}, {"canary", t.Canary}, {"baseline", t.Baseline}} {
		if v.share > 0 {
			parts = append(parts, fmt.Sprintf("%s %d%%", v.name, v.share))
		}
	}
	for _, m := range t.Match {
		parts = append(parts, m.String()+" to canary")
	}
	if t.Mirror != nil {
		parts = append(parts, fmt.Sprintf("%d%% copied to %s", t.Mirror.Share(), t.Mirror.Name()))
	}
	if t.SessionAffinity != nil {
		parts = append(parts, "clients kept by cookie "+t.SessionAffinity.Cookie)
	}
	return strings.Join(parts, ", ")
}

// Receives reports for primary, canary and baseline whether it gets any requests, be they copies.
func (t Traffic) Receives() [3]bool {
	receives := [3]bool{t.Primary > 0, t.Canary > 0 || len(t.Match) > 0, t.Baseline > 0}
	if t.Mirror != nil {
		receives[t.Mirror.Variant()] = true
	}
	return receives
}

// Without returns the traffic when a variant, by its position among primary, canary and baseline, gets none any more:
// the primary gets its share.
func (t Traffic) Without(variant int) Traffic {
	const canary, baseline = 1, 2
	switch variant {
	case canary:
		t.Primary, t.Canary, t.Match = t.Primary+t.Canary, 0, nil
	case baseline:
		t.Primary, t.Baseline = t.Primary+t.Baseline, 0
	}
	if t.Mirror != nil && t.Mirror.Variant() == variant {
		t.Mirror = nil
	}
	if t.Canary == 0 && t.Baseline == 0 {
		t.SessionAffinity = nil
	}
	return t
}

// trafficOptions are the `with` of K8S_TRAFFIC_ROUTING.
type trafficOptions struct {
	// All is the variant that gets all traffic.
	All string `json:"all" jsonschema:"enum=primary,enum=canary,enum=baseline"`
	// Primary is the percentage for primary. Default: what the others leave.
	Primary *percent `json:"primary"`
	// Canary is the percentage for canary. Default 0.
	Canary *percent `json:"canary"`
	// Baseline is the percentage for baseline. Default 0.
	Baseline *percent `json:"baseline"`
	// Match are requests that the canary answers whatever the shares are: those that one of them describes. PipeCD does
	// not read it.
	Match []Match `json:"match"`
	// Mirror sends copies of requests to a variant. PipeCD does not read it.
	Mirror *Mirror `json:"mirror"`
	// SessionAffinity keeps a client at the variant that has answered it first. PipeCD does not read it.
	SessionAffinity *SessionAffinity `json:"sessionAffinity"`
}

// ExtendSchema says what a stage needs, and that no traffic is lost.
func (trafficOptions) ExtendSchema(schema map[string]any) {
	var branches, rules []any
	for _, key := range []string{"all", "primary", "canary", "baseline", "match", "mirror"} {
		branches = append(branches, object{"required": []string{key}})
	}
	for _, key := range []string{"primary", "canary", "baseline"} {
		rules = append(rules, object{
			"not":                 object{"required": []string{"all", key}},
			"patternErrorMessage": "either all or " + key + ", not both",
		})
	}
	schema["allOf"] = append(rules, object{"anyOf": branches})
	schema["shares"] = []any{"primary", "canary", "baseline"}
}

// DecodeTraffic reads the `with` of K8S_TRAFFIC_ROUTING. The primary, when it is left out, gets what the others leave.
func DecodeTraffic(with []byte) (Traffic, error) {
	var o trafficOptions
	if err := decodeWith(StageTrafficRouting, with, &o); err != nil {
		return Traffic{}, err
	}
	t, err := o.shares()
	if err != nil {
		return Traffic{}, err
	}
	t.Match, t.Mirror, t.SessionAffinity = o.Match, o.Mirror, o.SessionAffinity
	for i, m := range t.Match {
		if err := m.validate(); err != nil {
			return Traffic{}, fmt.Errorf("%s: with.match[%d]: %w", StageTrafficRouting, i, err)
		}
	}
	if t.Mirror != nil {
		if err := t.Mirror.validate(); err != nil {
			return Traffic{}, fmt.Errorf("%s: with.mirror: %w", StageTrafficRouting, err)
		}
	}
	if err := t.SessionAffinity.validate(); err != nil {
		return Traffic{}, fmt.Errorf("%s: with.sessionAffinity%w", StageTrafficRouting, err)
	}
	return t, nil
}

// shares reads the percentages.
func (o trafficOptions) shares() (Traffic, error) {
	given := o.Primary != nil || o.Canary != nil || o.Baseline != nil
	switch {
	case o.All != "" && given:
		return Traffic{}, fmt.Errorf("%s: with: give either all or percentages, not both", StageTrafficRouting)
	case o.All == DefaultPrimaryValue:
		return Traffic{Primary: 100}, nil
	case o.All == DefaultCanaryValue:
		return Traffic{Canary: 100}, nil
	case o.All == DefaultBaselineValue:
		return Traffic{Baseline: 100}, nil
	case o.All != "":
		return Traffic{}, fmt.Errorf("%s: with.all: %q is not a variant; use primary, canary or baseline",
			StageTrafficRouting, o.All)
	case !given && len(o.Match) == 0 && o.Mirror == nil:
		return Traffic{}, fmt.Errorf("%s: with: says nothing; give all: primary, or percentages such as canary: 50",
			StageTrafficRouting)
	}
	t := Traffic{Canary: o.Canary.number(), Baseline: o.Baseline.number()}
	t.Primary = 100 - t.Canary - t.Baseline
	if o.Primary != nil {
		t.Primary = o.Primary.number()
	}
	if t.Primary < 0 || t.Primary+t.Canary+t.Baseline != 100 {
		return Traffic{}, fmt.Errorf("%s: with: primary, canary and baseline must add up to 100%%", StageTrafficRouting)
	}
	return t, nil
}

// percent is 50, "50" or "50%".
type percent int

// JSONSchema is the schema of the three forms.
func (percent) JSONSchema() map[string]any {
	return map[string]any{
		"type": []string{"integer", "string"}, "minimum": 0, "maximum": 100, "pattern": "^(100|[0-9]{1,2})%?$",
		"patternErrorMessage": `a percentage from 0 to 100, such as 50 or "50%"`,
	}
}

func (p *percent) number() int {
	if p == nil {
		return 0
	}
	return int(*p)
}

// UnmarshalJSON reads a whole number from 0 to 100.
func (p *percent) UnmarshalJSON(data []byte) error {
	text := string(data)
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	if err != nil || n < 0 || n > 100 {
		return fmt.Errorf("%s is not a percentage from 0 to 100, such as 50 or \"50%%\"", data)
	}
	*p = percent(n)
	return nil
}
