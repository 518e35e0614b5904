// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecordsSayWhichVersionsThereAreAndWhetherHelmHasDeployed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		records []stored
		want    History
	}{
		"none":                        {},
		"an installation that failed": {[]stored{{version: 1, status: "failed", owner: "a"}}, History{Newest: 1}},
		"an upgrade that failed": {[]stored{{version: 1, status: "superseded", owner: "a"},
			{version: 2, status: "deployed", owner: "a"}, {version: 3, status: "failed", owner: "a"}},
			History{Newest: 3, Deployed: 2}},
		"one of helm's": {[]stored{{version: 7, status: "deployed"}}, History{Newest: 7, Deployed: 7, ByHelm: true}},
		"helm's before ours": {[]stored{{version: 8, status: "deployed", owner: "a"},
			{version: 7, status: "superseded"}}, History{Newest: 8, Deployed: 8, ByHelm: true}},
		"helm has failed": {[]stored{{version: 1, status: "failed"}}, History{Newest: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, historyOf(c.records))
		})
	}
}
