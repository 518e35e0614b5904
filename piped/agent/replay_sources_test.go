// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// sources are those that a question of piped carries.
func sources(request proto.Message) []*common.DeploymentSource {
	var list []*common.DeploymentSource
	switch r := request.(type) {
	case *deployment.ExecuteStageRequest:
		list = []*common.DeploymentSource{r.GetInput().GetTargetDeploymentSource(),
			r.GetInput().GetRunningDeploymentSource()}
	case interface {
		GetInput() *deployment.PlanPluginInput
	}:
		list = []*common.DeploymentSource{r.GetInput().GetTargetDeploymentSource(),
			r.GetInput().GetRunningDeploymentSource()}
	}
	return slices.DeleteFunc(list, func(s *common.DeploymentSource) bool { return s == nil })
}

// ownConfigurations ends the configuration of each recorded commit with a separate line. In the recordings it is the
// same at all commits, so that a piped which confuses them would not be seen.
func ownConfigurations(recorded []call) []call {
	own := slices.Clone(recorded)
	for i := range own {
		own[i].request = proto.Clone(own[i].request)
		for _, s := range sources(own[i].request) {
			if len(s.GetApplicationConfig()) > 0 {
				s.ApplicationConfig = fmt.Appendf(s.GetApplicationConfig(), "# as of %.12s\n", s.GetCommitHash())
			}
		}
	}
	return own
}

// requireContent wants the directories that a question names to hold the configuration that it carries.
func requireContent(request proto.Message) error {
	for _, s := range sources(request) {
		data, err := os.ReadFile(filepath.Join(s.GetApplicationDirectory(), s.GetApplicationConfigFilename()))
		if err != nil {
			return err
		}
		if string(data) != string(s.GetApplicationConfig()) {
			return fmt.Errorf("the directory of commit %s has another configuration than the question:\n%s\n%s",
				s.GetCommitHash(), data, s.GetApplicationConfig())
		}
	}
	return nil
}

func TestTheComparisonSeesAWrongRunningSource(t *testing.T) {
	t.Parallel()
	recorded := ownConfigurations(readRecording(t, "b4-k8s-canary"))
	for name, c := range map[string]struct {
		change func(*deployment.ExecutePluginInput)
		field  string
	}{
		"the configuration of the target": {func(in *deployment.ExecutePluginInput) {
			in.RunningDeploymentSource.ApplicationConfig = in.GetTargetDeploymentSource().GetApplicationConfig()
		}, "input.running_deployment_source.application_config"},
		"the commit of the target": {func(in *deployment.ExecutePluginInput) {
			in.RunningDeploymentSource.CommitHash = in.GetTargetDeploymentSource().GetCommitHash()
		}, "input.running_deployment_source.commit_hash"},
		"none": {func(in *deployment.ExecutePluginInput) { in.RunningDeploymentSource = nil },
			"input.running_deployment_source.commit_hash"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours := slices.Clone(recorded)
			for i, call := range ours {
				if r, is := call.request.(*deployment.ExecuteStageRequest); is {
					changed := proto.CloneOf(r)
					c.change(changed.GetInput())
					ours[i].request = changed
				}
			}
			n := &names{}
			n.learn(recorded, nil)
			found := compare(n.write(t, only(toOthers(recorded), ofDeployments...)),
				n.write(t, only(toOthers(ours), ofDeployments...)))
			require.True(t, slices.ContainsFunc(found, func(d difference) bool { return d.field == c.field }), "%v",
				found)
		})
	}
}
