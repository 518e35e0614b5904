// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

const (
	waitFor = time.Minute
	tick    = 10 * time.Millisecond
)

// objects are all that a store keeps, each as a text.
func objects(t *testing.T, s *store.Store) map[string]string {
	t.Helper()
	found := map[string]string{}
	s.Kept(func(r journal.Record) {
		r.Stages = slices.Clone(r.Stages)
		slices.SortFunc(r.Stages, func(a, b journal.Stage) int { return strings.Compare(a.ID, b.ID) })
		name := fmt.Sprint(r.Kind, r.ID, r.Name, r.Key, r.Attempt)
		text := fmt.Sprint(r.Automatic, r.Sealed, len(r.Blocks), r.Created.UnixNano(), r.Completed.UnixNano())
		for _, stage := range r.Stages {
			text += fmt.Sprint(stage.ID, stage.Started.UnixNano(), stage.Completed.UnixNano())
		}
		var m proto.Message
		switch r.Kind {
		case journal.Application:
			m = &model.Application{}
		case journal.Deployment:
			m = &model.Deployment{}
		case journal.Command:
			m = &model.Command{}
		case journal.Event:
			m = &model.Event{}
		}
		if m != nil {
			require.NoError(t, proto.Unmarshal(r.Model, m))
			data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
			require.NoError(t, err)
			text += string(data)
		}
		found[name] = text
	})
	return found
}

func differing(a, b map[string]string) (names []string) {
	for name, text := range a {
		if b[name] != text {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// history is the file of a store that has worked for a while, and what the store holds.
func history(t *testing.T) (data []byte, holds map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history")
	s, j := reopen(t, path, store.Limits{})
	live(t, s)
	for i := range 12 {
		id := fmt.Sprint("more", i)
		stage := run(t, s, id, "a")
		for n := range 4 {
			require.NoError(t, s.Deployments.AppendLog(piped,
				store.LogReport{DeploymentID: id, StageID: stage, Blocks: blocks(int64(n), 1, "a line")}))
		}
		require.NoError(t, s.Deployments.ReportStage(piped, stageReport(id, stage, model.StageStatus_STAGE_SUCCESS, 0)))
		if i%3 > 0 {
			finish(t, s, id, model.DeploymentStatus_DEPLOYMENT_SUCCESS)
		}
	}
	kept(t, j)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data, objects(t, s)
}

// restored is what is left of a damaged file, and what is said of it.
func restored(t *testing.T, path string, data []byte) (*store.Store, string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, data, 0o600))
	s, _ := newStore(store.Limits{})
	said := ""
	journal.Open(journal.Options{Path: path, State: s, Problem: func(_ journal.Subject, p *journal.Problem) {
		if p != nil {
			said = p.Reason
		}
	}})
	return s, said
}

func TestDamageOfTheHistoryCostsOneObjectAndIsReported(t *testing.T) {
	t.Parallel()
	data, want := history(t)
	seed := uint64(20261122)
	tries := 400
	if more, err := strconv.Atoi(os.Getenv("PIPEDECK_DAMAGE_TRIES")); err == nil {
		tries, seed = more, uint64(time.Now().UnixNano())
	}
	random := rand.New(rand.NewPCG(seed, 0))
	lost, path := 0, filepath.Join(t.TempDir(), "history")
	for i := range tries {
		damaged, what := slices.Clone(data), ""
		at := random.IntN(len(data))
		if i%4 > 0 {
			bit := random.IntN(8)
			damaged[at] ^= 1 << bit
			what = fmt.Sprintf("seed %d, try %d: bit %d of byte %d", seed, i, bit, at)
		} else {
			n := min(1+random.IntN(24), len(data)-at)
			damaged = slices.Delete(damaged, at, at+n)
			what = fmt.Sprintf("seed %d, try %d: %d bytes at %d", seed, i, n, at)
		}
		s, said := restored(t, path, damaged)
		names := differing(want, objects(t, s))
		require.LessOrEqual(t, len(names), 1, "%s: %q\n%s", what, names, said)
		require.NotEmpty(t, said, what)
		if len(names) > 0 {
			lost++
			require.NotContains(t, said, "nothing is missing", "%s: %q", what, names)
		}
		if i%100 == 99 { // the damaged files are kept, each under its own name
			aside, err := filepath.Glob(path + ".damaged-*")
			require.NoError(t, err)
			require.Len(t, aside, 100)
			for _, name := range aside {
				require.NoError(t, os.Remove(name))
			}
		}
	}
	t.Logf("seed %d: %d of %d lost an object", seed, lost, tries)
	require.Positive(t, lost)
}

func TestATruncatedHistoryIsReported(t *testing.T) {
	t.Parallel()
	data, want := history(t)
	path := filepath.Join(t.TempDir(), "history")
	for length := 0; length < len(data); length += 397 {
		s, said := restored(t, path, data[:length])
		require.NotEmpty(t, said, "%d bytes of %d, lost %q", length, len(data), differing(want, objects(t, s)))
	}
}

// A deployment of which only an older state is known would run its last stages again.
func TestADeploymentWhoseLastStateIsLostIsCancelled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	s, j := reopen(t, path, store.Limits{})
	importApplication(s, "a", nil)
	stage := run(t, s, "d", "a")
	command, err := s.Commands.Add(&model.Command{PipedId: piped, Type: model.Command_APPROVE_STAGE, DeploymentId: "d",
		StageId: stage, Commander: "alice"})
	require.NoError(t, err)
	kept(t, j)
	before := j.Size()
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 0)))
	kept(t, j)
	between := j.Size()
	require.NoError(t, s.Commands.ReportHandled(piped,
		store.HandledCommand{ID: command, Status: model.CommandStatus_COMMAND_SUCCEEDED, HandledAt: 1}))
	kept(t, j)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[(before+between)/2] ^= 4
	data[(between+j.Size())/2] ^= 4

	next, said := restored(t, path, data)
	require.Contains(t, said, "the last state of deployment d of application a (it is cancelled)")
	require.Contains(t, said, "command "+command)
	require.Empty(t, openOf(next, piped))
	d, err := next.Deployments.Get("d")
	require.NoError(t, err)
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, d.Model.GetStatus())
	require.Equal(t, model.StageStatus_STAGE_CANCELLED, d.Model.GetStages()[0].GetStatus())
	require.Empty(t, next.Commands.Waiting(piped), "it is not carried out twice")
}

// replaceBy puts a copy of a file in the place of something else, at once.
func replaceBy(t *testing.T, place, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(place+".copy", data, 0o600))
	require.NoError(t, os.Rename(place+".copy", place))
}

func TestWhatIsRecognisedBeforeTheHistoryIsReadCountsAfterwards(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	s, j := reopen(t, path, store.Limits{})
	s.Watching("/one")
	require.Zero(t, s.Recognise("local", "uid-1"))
	importApplication(s, "a", nil)
	require.NoError(t, s.Applications.SetDeployTargets("a",
		map[string]*model.DeployTargets{"kubernetes": {DeployTargets: []string{"local"}}}))
	require.NoError(t, s.Applications.ReportMostRecentDeployment(piped, "a", model.DeploymentStatus_DEPLOYMENT_SUCCESS,
		&model.ApplicationDeploymentReference{DeploymentId: "d"}))
	kept(t, j)

	other := filepath.Join(t.TempDir(), "history")
	require.NoError(t, os.Symlink(path, other)) // which is not followed
	next, late := reopen(t, other, store.Limits{})
	next.Watching("/one")
	require.Zero(t, next.Recognise("local", "uid-2"))
	replaceBy(t, other, path)
	require.Eventually(t, late.Loaded, waitFor, tick)
	require.Eventually(t, func() bool { return len(next.Commands.Waiting(piped)) == 1 }, waitFor, tick,
		"it is another cluster")

	third := filepath.Join(t.TempDir(), "history")
	require.NoError(t, os.Symlink(path, third))
	next, late = reopen(t, third, store.Limits{})
	next.Watching("/two")
	replaceBy(t, third, path)
	require.Eventually(t, late.Loaded, waitFor, tick)
	require.Eventually(t, func() bool { _, err := next.Applications.Get("a"); return err != nil }, waitFor, tick,
		"it is another repository")
}

// The record of the plan is damaged, the logs that follow it are not.
func TestLogsDoNotNeedTheRecordBeforeThem(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	s, j := reopen(t, path, store.Limits{})
	importApplication(s, "a", nil)
	require.NoError(t, s.Deployments.Create(piped, newDeployment("d", "a")))
	kept(t, j)
	before := j.Size()
	require.NoError(t, s.Deployments.ReportPlanned(piped,
		&pipedservice.ReportDeploymentPlannedRequest{DeploymentId: "d",
			Stages: []*model.PipelineStage{{Id: "s", Name: "WAIT"}}}))
	kept(t, j)
	damaged := (before + j.Size()) / 2
	require.NoError(t, s.Deployments.AppendLog(piped,
		store.LogReport{DeploymentID: "d", StageID: "s", Blocks: blocks(0, 3, "x")}))
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("d", "s", model.StageStatus_STAGE_RUNNING, 0)))
	kept(t, j)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[damaged] ^= 1
	next, said := restored(t, path, data)
	require.Contains(t, said, "nothing is missing")
	page, err := next.Deployments.ReadLog("d", "s", 0)
	require.NoError(t, err)
	require.Len(t, page.Blocks, 3)
}
