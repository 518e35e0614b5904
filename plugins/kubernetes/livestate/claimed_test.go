// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatSomeoneHasWrittenAsAWholeIsSuspected(t *testing.T) {
	t.Parallel()
	const git = "{apiVersion: example.com/v1, kind: Box, metadata: {name: a}, spec: {map: {a: b}, list: [{a: b}], " +
		"keyed: [{name: one, map: {a: b}}], text: a}}"
	const live = "spec: {map: {a: b, x: y}, list: [{a: b, x: y}], keyed: [{name: one, map: {a: b, x: y}}], text: a}}"
	for fields, paths := range map[string][]string{
		"fieldsV1: {f:spec: {f:map: {}}}":                                  {"spec.map.x"},
		"fieldsV1: {f:spec: {f:list: {}}}":                                 {"spec.list[0].x"},
		`fieldsV1: {f:spec: {f:keyed: {'k:{"name":"one"}': {f:map: {}}}}}`: {"spec.keyed[one].map.x"},
		`fieldsV1: {f:spec: {f:keyed: {'k:{"name":"two"}': {f:map: {}}}}}`: nil,
		"fieldsV1: {f:spec: {f:map: {.: {}, f:x: {}}}}":                    nil, // shared field by field
		"fieldsV1: {f:spec: {f:text: {}, f:other: {}}}":                    nil,
		"fieldsV1: {}": nil,
		"subresource: status, fieldsV1: {f:spec: {f:map: {}}}": nil,
	} {
		o := "{apiVersion: example.com/v1, kind: Box, metadata: {name: a, managedFields: [{manager: editor, " + fields +
			"}]}, " + live
		var found []string
		for _, one := range suspect(parse(t, git), parse(t, o)) {
			require.True(t, one.unsure, one.path)
			found = append(found, one.path)
		}
		require.Equal(t, paths, found, fields)
	}
}
