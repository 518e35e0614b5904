// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

func TestAnObjectThatIsAsInGitIsComparedAgainOnceItChanges(t *testing.T) {
	t.Parallel()
	want := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: '1'}}")
	places := []place{{manifest: manifest.Manifest{Unstructured: want}, known: true}}
	live := func(uid, version, value string) string {
		return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: %s, resourceVersion: '%s'}, "+
			"data: {x: '%s'}}", uid, version, value)
	}
	for name, c := range map[string]struct {
		live     string
		compared bool
	}{
		"the same state is not":      {live("u", "7", "2"), false},
		"a new state is":             {live("u", "8", "2"), true},
		"one that took its place is": {live("v", "7", "2"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &drift{
				dryRun: func(
					_ context.Context, _ schema.GroupVersionResource, m manifest.Manifest,
				) (*unstructured.Unstructured, error) {
					return m.Unstructured, nil
				},
				verdicts: newMemory[verdictKey, []difference](10), agreed: newAgreements(), source: &stage.Source{},
				holder: func(place) string { return "" },
			}
			found, err := d.compare(t.Context(), places, []*object{{live: parse(t, live("u", "7", "1"))}})
			require.NoError(t, err)
			require.Empty(t, found)
			found, err = d.compare(t.Context(), places, []*object{{live: parse(t, c.live)}})
			require.NoError(t, err)
			require.Equal(t, c.compared, len(found) == 1)
			found, err = d.compare(t.Context(), places, nil)
			require.NoError(t, err)
			require.Len(t, found, 1, "it is missing")
		})
	}
}
