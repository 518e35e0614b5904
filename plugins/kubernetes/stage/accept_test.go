// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

func TestTheConditionsOfARouteSayWhoAcceptsIt(t *testing.T) {
	t.Parallel()
	const no = "{type: Accepted, status: 'False', reason: NoMatch, message: no listener, observedGeneration: 3}"
	for name, c := range map[string]struct {
		parents string
		want    acceptance
		judged  bool
	}{
		"nothing":         {"[]", acceptance{}, false},
		"other condition": {"[{conditions: [{type: Programmed, status: 'False'}]}]", acceptance{}, false},
		"accepted": {"[{conditions: [{type: Accepted, status: 'True', observedGeneration: 3}]}]",
			acceptance{accepted: 1}, true},
		"accepted, of no generation": {"[{conditions: [{type: Accepted, status: 'True'}]}]", acceptance{accepted: 1},
			true},
		"accepted before the change": {"[{conditions: [{type: Accepted, status: 'True', observedGeneration: 2}]}]",
			acceptance{pending: 1}, false},
		"refused": {"[{parentRef: {name: gw}, conditions: [" + no + "]}]",
			acceptance{refused: []string{"Gateway gw: NoMatch: no listener"}}, true},
		"accepted with a missing backend": {"[{parentRef: {name: gw}, conditions: [{type: Accepted, status: 'True'}, " +
			"{type: ResolvedRefs, status: 'False', reason: BackendNotFound, message: no Service web-canary, " +
			"observedGeneration: 3}]}]", acceptance{accepted: 1,
			unresolved: []string{"Gateway gw: BackendNotFound: no Service web-canary"}}, true},
		"a backend was missing before the change": {"[{conditions: [{type: Accepted, status: 'True'}, " +
			"{type: ResolvedRefs, status: 'False', observedGeneration: 2}]}]", acceptance{accepted: 1}, true},
		"refused by one": {"[{parentRef: {name: web, kind: Service}, conditions: [" + no + "]}, " +
			"{conditions: [{type: Accepted, status: 'True', observedGeneration: 4}]}]",
			acceptance{accepted: 1, refused: []string{"Service web: NoMatch: no listener"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := manifest.Parse([]byte("{apiVersion: v1, kind: HTTPRoute, metadata: {name: web}, "+
				"status: {parents: "+c.parents+"}}"), "a.yaml")
			require.NoError(t, err)
			got := acceptanceOf(parsed[0].Unstructured, 3)
			require.Equal(t, c.want, got)
			require.Equal(t, c.judged, got.judged())
		})
	}
}
