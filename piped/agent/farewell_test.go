// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/buildtest"
)

// A stage stores how far it is when piped stops, which its next attempt needs.
func TestWhatAPluginStoresAtItsEndArrives(t *testing.T) {
	t.Parallel()
	program := buildtest.Program(t, "github.com/pipedeck/pipedeck/piped/pluginhost/internal/testplugin")
	s := &stage{plane: startPlane(t), dir: t.TempDir(), pipedID: "piped"}
	s.repository = filepath.Join(s.dir, "repo.git")
	s.git(t, s.dir, "init", "-q", "--bare", "-b", "main", s.repository)
	s.git(t, s.dir, "clone", "-q", s.repository, "clone")
	begun := filepath.Join(s.dir, "begun")
	s.put(t, "app/app.pipecd.yaml", fmt.Sprintf("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n"+
		"  name: app\n  plugins: {test: {}}\n"+
		"  pipeline:\n    stages: [{name: A, with: {do: farewell, file: %q}}]\n", begun))
	s.revisions = []*revision{{commit: &model.Commit{Message: "first", Author: "dev", CreatedAt: 1795229964}}}
	s.push(t)
	s.configure = func(t *testing.T, s *stage, program string) map[string]any {
		t.Helper()
		return map[string]any{
			"projectID": "proj", "pipedID": s.pipedID, "pipedKeyFile": s.write(t, "key", strings.Repeat("K", 50)),
			"apiAddress": s.plane.address,
			"repositories": []any{
				map[string]any{"repoId": "repo1", "remote": "file://" + s.repository, "branch": "main"},
			},
			"plugins": []any{map[string]any{"name": "test", "url": program, "port": 0,
				"config": map[string]any{"stages": []string{"A"}}}},
		}
	}
	path := &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo1",
		Remote: "file://" + s.repository, Branch: "main"}, Path: "app", ConfigFilename: "app.pipecd.yaml"}
	s.plane.applications = []*model.Application{{Id: "app", Name: "app", PipedId: s.pipedID, ProjectId: "proj",
		GitPath: path, CreatedAt: 1, UpdatedAt: 1}}
	s.plane.deployments = []*model.Deployment{{
		Id: "d", ApplicationId: "app", ApplicationName: "app", PipedId: s.pipedID, ProjectId: "proj", GitPath: path,
		Trigger: &model.DeploymentTrigger{Timestamp: 1, SyncStrategy: model.SyncStrategy_PIPELINE,
			Commit: &model.Commit{Hash: s.revisions[0].actual, Message: "first", Author: "dev", Branch: "main",
				CreatedAt: 1}},
		Status: model.DeploymentStatus_DEPLOYMENT_PLANNED, CreatedAt: 1, UpdatedAt: 1,
		Stages: []*model.PipelineStage{
			{Id: "s", Name: "A", Status: model.StageStatus_STAGE_NOT_STARTED_YET, CreatedAt: 1, UpdatedAt: 1},
		},
	}}
	stop := s.start(t, program)
	require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, patience, time.Millisecond)
	stop()
	for _, r := range of[*pipedservice.SaveStageMetadataRequest](s.made(), controlPlaneLink) {
		if r.GetMetadata()["farewell"] == "said" {
			return
		}
	}
	require.Fail(t, "the control plane has not got the last word of the plugin")
}
