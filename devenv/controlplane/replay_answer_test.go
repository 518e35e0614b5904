// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// runField are fields whose values differ from run to run: only whether they are set is compared.
var runField = regexp.MustCompile(
	`(^|\.)(id|[a-z_]*_id|created_at|updated_at|[a-z_]*_at|timestamp|ciphertext|cursor|event_key|commands\[\d+\])$`)

// requireSame wants the fields of an answer to be those recorded, apart from ids and times.
func requireSame(t *testing.T, c recorded, want, got proto.Message) {
	t.Helper()
	require.Empty(t, differences(t, want, got), "call %d, %s", c.Seq, c.Method)
}

// differences writes a line per field that differs: "path: recorded, ours".
func differences(t *testing.T, want, got proto.Message) []string {
	t.Helper()
	byName(want)
	byName(got)
	a, b := fieldsOf(t, want), fieldsOf(t, got)
	all := maps.Clone(a)
	maps.Copy(all, b)
	var lines []string
	for _, field := range slices.Sorted(maps.Keys(all)) {
		if a[field] != b[field] {
			lines = append(lines, fmt.Sprintf("%s: %q, %q", field, a[field], b[field]))
		}
	}
	return lines
}

// byName sorts lists of applications: several were changed in the same second, and then ids decide.
func byName(m proto.Message) {
	if r, is := m.(*apiservice.ListApplicationsResponse); is {
		slices.SortFunc(r.Applications,
			func(a, b *model.Application) int { return strings.Compare(a.GetName(), b.GetName()) })
	}
}

func fieldsOf(t *testing.T, m proto.Message) map[string]string {
	t.Helper()
	data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	require.NoError(t, err)
	var value any
	require.NoError(t, json.Unmarshal(data, &value))
	into := map[string]string{}
	flatten(into, "", value)
	return into
}

func flatten(into map[string]string, at string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			flatten(into, strings.TrimPrefix(at+"."+key, "."), member)
		}
	case []any:
		for i, member := range v {
			flatten(into, fmt.Sprintf("%s[%d]", at, i), member)
		}
	default:
		if runField.MatchString(at) {
			v = "set"
		}
		into[at] = fmt.Sprint(v)
	}
}
