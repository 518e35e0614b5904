// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"bytes"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/system/logtest"
)

// stage is where a recording is played: a control plane, plugins that answer as recorded, and a repository with the
// recorded configurations and as many commits as the recording knows.
type stage struct {
	recorded        []call
	plane           *plane
	plugins         []*plugin
	pipedID, remote string // as recorded
	dir, repository string
	revisions       []*revision // one part of the scenario each
	next            int
	theirs, ours    []string // more names, in pairs: what is replaced, by what
	// configure makes the "spec" of the agent's configuration; nil for the usual one.
	configure func(t *testing.T, s *stage, program string) map[string]any
	// texts are the configurations of commits, by application and recorded hash.
	texts map[string]map[string]string
	// running was deployed before the recording begins.
	running *revision
}

// revision is a commit.
type revision struct {
	recorded, actual string // hashes
	commit           *model.Commit
	paths            []string // what it changes
}

func newStage(t *testing.T, recorded []call, untouched bool) *stage {
	t.Helper()
	if !untouched { // else no commit changes an application
		recorded = ownConfigurations(recorded)
	}
	s := &stage{recorded: recorded, texts: map[string]map[string]string{}, plane: startPlane(t), dir: t.TempDir()}
	s.repository = filepath.Join(s.dir, "repo.git")
	for _, name := range s.pluginNames() {
		s.plugins = append(s.plugins, startPlugin(t, name, append(readRecording(t, "a0-start-up"), recorded...),
			s.plane.nudge))
	}
	s.git(t, s.dir, "init", "-q", "--bare", "-b", "main", s.repository)
	s.git(t, s.dir, "clone", "-q", s.repository, "clone")
	for name, text := range s.configurations() {
		s.put(t, filepath.Join(name, "app.pipecd.yaml"), text)
		s.put(t, filepath.Join(name, "values.yaml"), "image:\n  tag: v1\n") // for events
	}
	s.readDeployments(untouched)
	if s.running != nil {
		s.commit(t, s.running)
	}
	if len(s.revisions) > 0 {
		s.push(t)
	}
	s.know()
	return s
}

// pluginNames are those that piped has called.
func (s *stage) pluginNames() []string {
	var list []string
	for _, c := range s.recorded {
		if name, is := strings.CutPrefix(c.link, "piped>"); is && c.link != controlPlaneLink &&
			!slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// configurations are those of the applications, by path.
func (s *stage) configurations() map[string]string {
	texts := map[string]string{}
	note := func(source *common.DeploymentSource) {
		if name := filepath.Base(source.GetApplicationDirectory()); len(source.GetApplicationConfig()) > 0 {
			texts[name] = string(source.GetApplicationConfig())
			if s.texts[name] == nil {
				s.texts[name] = map[string]string{}
			}
			s.texts[name][source.GetCommitHash()] = texts[name]
		}
	}
	for _, c := range s.recorded {
		switch r := c.request.(type) {
		case *deployment.ExecuteStageRequest:
			note(r.GetInput().GetRunningDeploymentSource())
			note(r.GetInput().GetTargetDeploymentSource())
		case *deployment.DetermineVersionsRequest:
			note(r.GetInput().GetRunningDeploymentSource())
			note(r.GetInput().GetTargetDeploymentSource())
		case *livestate.GetLivestateRequest:
			note(r.GetDeploySource())
		}
	}
	return texts
}

// readDeployments takes applications and commits from what was deployed.
func (s *stage) readDeployments(untouched bool) {
	for _, d := range created(s.recorded) {
		s.pipedID, s.remote = d.GetPipedId(), d.GetGitPath().GetRepo().GetRemote()
		if !slices.ContainsFunc(s.plane.applications,
			func(a *model.Application) bool { return a.GetId() == d.GetApplicationId() }) {
			a := &model.Application{
				Id: d.GetApplicationId(), Name: d.GetApplicationName(), PipedId: d.GetPipedId(),
				ProjectId: d.GetProjectId(), Kind: d.GetKind(),
				GitPath: proto.CloneOf(d.GetGitPath()), DeployTargetsByPlugin: d.GetDeployTargetsByPlugin(),
				Labels: d.GetLabels(), CreatedAt: 1, UpdatedAt: 1,
			}
			a.GitPath.Repo.Remote = "file://" + s.repository
			a.GitPath.Url = strings.Replace(a.GitPath.Url, strings.TrimSuffix(s.remote, ".git"),
				"file://"+strings.TrimSuffix(s.repository, ".git"), 1)
			s.plane.applications = append(s.plane.applications, a)
		}
		v := &revision{recorded: d.GetTrigger().GetCommit().GetHash(), commit: d.GetTrigger().GetCommit()}
		if !untouched {
			v.paths = []string{d.GetGitPath().GetPath()}
		}
		if d.GetTrigger().GetCommit().GetAuthor() == "piped" {
			v = nil // it makes the commit itself
		}
		s.revisions = append(s.revisions, v)
	}
	for _, r := range of[*pipedservice.ReportDeploymentPlannedRequest](s.recorded, controlPlaneLink) {
		if hash := r.GetRunningCommitHash(); hash != "" && s.running == nil && s.begin() != hash {
			s.running = &revision{recorded: hash, commit: &model.Commit{Message: "before", Author: "dev",
				CreatedAt: 1795229964}}
		}
	}
}

// begin is the first commit.
func (s *stage) begin() string {
	if s.revisions[0] == nil {
		return ""
	}
	return s.revisions[0].recorded
}

// know gives the control plane what was deployed before the recording begins.
func (s *stage) know() {
	if s.running == nil {
		return
	}
	for _, a := range s.plane.applications {
		ref := &model.ApplicationDeploymentReference{
			DeploymentId: "before", ConfigFilename: "app.pipecd.yaml", StartedAt: 1, CompletedAt: 1,
			Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: s.running.actual, Message: "before",
				Author: "dev", Branch: "main", CreatedAt: 1}, Timestamp: 1},
		}
		for _, status := range []model.DeploymentStatus{model.DeploymentStatus_DEPLOYMENT_PENDING,
			model.DeploymentStatus_DEPLOYMENT_SUCCESS} {
			s.plane.deployed[a.GetId()+status.String()] = ref
		}
		a.MostRecentlySuccessfulDeployment, a.MostRecentlyTriggeredDeployment = ref, ref
	}
}

// push makes the commit of the next part.
func (s *stage) push(t *testing.T) {
	t.Helper()
	v := s.revisions[s.next]
	s.next++
	if v != nil {
		s.commit(t, v)
	}
}

func (s *stage) commit(t *testing.T, v *revision) {
	t.Helper()
	for _, name := range v.paths {
		s.put(t, filepath.Join(name, "revision"), v.commit.GetMessage())
	}
	for name, texts := range s.texts {
		if text, recorded := texts[v.recorded]; recorded {
			s.put(t, filepath.Join(name, "app.pipecd.yaml"), text)
		}
	}
	clone, at := filepath.Join(s.dir, "clone"), fmt.Sprintf("%d +0000", v.commit.GetCreatedAt())
	s.git(t, clone, "add", ".")
	command := s.command(clone, "-c", "user.name="+v.commit.GetAuthor(), "-c", "user.email=dev@example.com", "commit",
		"-q", "--allow-empty", "-m", v.commit.GetMessage())
	command.Env = append(command.Env, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	s.git(t, clone, "push", "-q", "origin", "main")
	v.actual = strings.TrimSpace(s.git(t, clone, "rev-parse", "HEAD"))
}

func (s *stage) put(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.dir, "clone", name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func (s *stage) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (s *stage) command(dir string, args ...string) *exec.Cmd {
	command := exec.Command("git", append([]string{"-C", dir}, args...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	return command
}

func (s *stage) git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := s.command(dir, args...)
	command.Stdout, command.Stderr = &stdout, &stderr
	require.NoError(t, command.Run(), "%s", &stderr)
	return stdout.String()
}

// hashes are the known commits in their order.
func (s *stage) hashes(recorded bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, v := range append([]*revision{s.running}, s.revisions...) {
			if v == nil {
				continue
			}
			hash := v.actual
			if recorded {
				hash = v.recorded
			}
			if hash != "" && !yield(hash) {
				return
			}
		}
	}
}

// atRest reports whether as many deployments as there were commits are over and no command or event waits.
func (s *stage) atRest() bool {
	return len(s.plane.resting) == s.next && len(s.plane.commands) == 0 && len(s.plane.events) == 0
}

// nameOf returns the name of a stage.
func (s *stage) nameOf(stage string) string {
	for _, d := range s.plane.deployments {
		for _, p := range d.GetStages() {
			if p.GetId() == stage {
				return p.GetName()
			}
		}
	}
	return ""
}

// made are the calls of our agent.
func (s *stage) made() []call {
	s.plane.mu.Lock()
	list := slices.Clone(s.plane.calls)
	s.plane.mu.Unlock()
	for _, p := range s.plugins {
		list = append(list, p.made()...)
	}
	return list
}

// logger shows the agent's log when the test has failed.
func (s *stage) logger(t *testing.T) *slog.Logger {
	log := &logtest.Buffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the agent:\n%s", log)
		}
	})
	return slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
