// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
)

func TestOnlyTheApplicationsThatAreSelectedAreRegistered(t *testing.T) {
	t.Parallel()
	p := start(t, func(c *controlplane.Config) {
		c.Selects = func(_, file string) bool { return file == "a/app.pipecd.yaml" || file == "top.pipecd.yaml" }
	})
	newReplayer(t).play(p.pipedConn, recording(t, "a0")[:1], nil)
	ctx := testContext(t)
	found := func(name, path, file string) *model.ApplicationInfo {
		return &model.ApplicationInfo{Name: name, RepoId: "repo1", Path: path, ConfigFilename: file, PipedId: pipedID}
	}
	_, err := p.piped.ReportUnregisteredApplicationConfigurations(ctx,
		&pipedservice.ReportUnregisteredApplicationConfigurationsRequest{Applications: []*model.ApplicationInfo{
			found("a", "a", "app.pipecd.yaml"), found("b", "b", "app.pipecd.yaml"),
			found("other", "a", "other.pipecd.yaml"), found("top", "./", "top.pipecd.yaml"),
		}})
	require.NoError(t, err)
	listed, err := p.piped.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
	var names []string
	for _, a := range listed.GetApplications() {
		names = append(names, a.GetName())
	}
	require.ElementsMatch(t, []string{"a", "top"}, names)
}
