// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatOnlyAllFilesShowIsReported reads repositories whose comments say what is wrong with their lines.
func TestWhatOnlyAllFilesShowIsReported(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/together/*")
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			var reports []*Report
			var contents [][]byte
			var offers []Offer
			require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				data, err := os.ReadFile(path)
				report := Check(data, path)
				reports, contents = append(reports, report), append(contents, data)
				if report.Piped != nil {
					offers = report.Piped.Offers()
				}
				return err
			}))
			CheckTogether(offers, "spec.plugins of piped.yaml", reports...)
			for i, report := range reports {
				requireExpected(t, contents[i], report)
			}
		})
	}
}

func TestAPluginThatTheUserGivesMayHaveAnyStage(t *testing.T) {
	t.Parallel()
	check := func(offer Offer) *Report {
		report := Check([]byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: a\n  pipeline: {stages: [{name: HEALTH_GATE}]}\n"), "app.pipecd.yaml")
		CheckTogether([]Offer{offer}, "the plugins of this environment", report)
		return report
	}
	require.Empty(t, check(Offer{Plugin: "wait", Other: true}).Errors)
	require.Empty(t, check(Offer{Plugin: "gate"}).Errors)
	require.Empty(t, check(Offer{Plugin: "wait", Stages: []string{"HEALTH_GATE"}}).Errors)
	require.ErrorContains(t, check(Offer{Plugin: "wait"}).Errors, `no plugin in the plugins of this environment has the stage "HEALTH_GATE"`)
}
