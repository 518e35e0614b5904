// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

// What a piped reports is not trusted: whatever is decoded can be sent on.
func FuzzDecodePlanPreview(f *testing.F) {
	f.Add([]byte(
		`{"command_id":"c","piped_id":"p","results":[{"application_id":"a","sync_strategy":2,` +
			`"plugin_plan_results":[{"plugin_name":"k","plan_details":"K2E="}]}]}`))
	f.Add([]byte(`{"results":[{"plugin_plan_results":[{}]}],` +
		`"pipedeck_changes":[{"changes":{}},{"result":-1},{"target":7}]}`))
	f.Add([]byte(`{"error":"detected conflicts"}`))
	f.Add([]byte(`{"results":[null,{"plugin_plan_results":[null,{"plan_summary":"/w=="}]}]}`))
	f.Fuzz(func(t *testing.T, output []byte) {
		c := &model.Command{Id: "c", PipedId: "p", Status: model.CommandStatus_COMMAND_SUCCEEDED}
		result, err := DecodePlanPreview(c, output)
		if err != nil {
			return
		}
		if result.GetCommandId() != "c" || result.GetPipedId() != "p" {
			t.Fatalf("it takes itself for %s of %s", result.GetCommandId(), result.GetPipedId())
		}
		if _, err := proto.Marshal(result); err != nil {
			t.Fatal(err)
		}
		for one, changes := range PlannedChanges(result, output) {
			if one == nil || !utf8.ValidString(changes) {
				t.Fatalf("changes of %v that cannot be sent: %q", one, changes)
			}
		}
	})
}
