// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Word returns an enum value without its prefix: "RUNNING", "NOT_STARTED", "OUT_OF_SYNC".
func Word(value fmt.Stringer) string {
	name := value.String()
	for _, prefix := range []string{"STAGE_STATUS_", "DEPLOYMENT_STATUS_", "DEPLOYMENT_TRIGGER_",
		"SYNC_STATUS_", "HEALTH_STATUS_", "SEVERITY_", "STATE_"} {
		if rest, found := strings.CutPrefix(name, prefix); found {
			return rest
		}
	}
	return name
}

// PluginState returns the state of a plugin process. A piped that does not report processes leaves it open.
func PluginState(p *deckv1.Plugin) string {
	if p.GetState() == deckv1.Plugin_STATE_UNSPECIFIED {
		return "UNKNOWN"
	}
	return Word(p.GetState())
}

// Health returns the health of an application as the UI names it. PipeCD calls what is not healthy OTHER.
func Health(health deckv1.HealthStatus) string {
	if health == deckv1.HealthStatus_HEALTH_STATUS_OTHER {
		return "UNHEALTHY"
	}
	return Word(health)
}

// Moment returns a time as all documents have it.
func Moment(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// moment returns "" for a time that there is not.
func moment(at *timestamppb.Timestamp) string {
	if at == nil {
		return ""
	}
	return Moment(at.AsTime())
}

// List returns a list that is written as [] when it is empty.
func List[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// each turns every entry of a list into its object.
func each[From, To any](list []From, object func(From) To) []To {
	all := make([]To, 0, len(list))
	for _, one := range list {
		all = append(all, object(one))
	}
	return all
}
