// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// text is a list of records as the bytes that a fuzzer changes: the kind, flags and each text after its length.
func text(records ...journal.Record) (b []byte) {
	for _, r := range records {
		flags := byte(0)
		if r.Automatic {
			flags |= 1
		}
		if r.Sealed {
			flags |= 2
		}
		b = append(b, byte(r.Kind), flags, byte(r.Attempt))
		parts := [][]byte{[]byte(r.ID), []byte(r.Name), []byte(r.Key), r.Model, r.Commit}
		if len(r.Blocks) > 0 {
			parts[3] = r.Blocks[0]
		}
		for _, part := range parts {
			b = binary.BigEndian.AppendUint16(b, uint16(len(part)))
			b = append(b, part...)
		}
	}
	return b
}

func parse(b []byte) (records []journal.Record) {
	for len(b) >= 3 {
		r := journal.Record{
			Kind: journal.Kind(b[0]), Automatic: b[1]&1 > 0, Sealed: b[1]&2 > 0, Attempt: int32(int8(b[2])),
			Created: time.Unix(1, 0),
		}
		b = b[3:]
		var parts [5][]byte
		for i := range parts {
			if len(b) < 2 {
				break
			}
			n := min(int(binary.BigEndian.Uint16(b)), len(b)-2)
			parts[i], b = b[2:2+n], b[2+n:]
		}
		r.ID, r.Name, r.Key, r.Model, r.Commit = string(parts[0]), string(parts[1]), string(parts[2]), parts[3],
			parts[4]
		if r.Kind == journal.Log {
			r.Model, r.Blocks = nil, [][]byte{parts[3]}
		}
		records = append(records, r)
	}
	return records
}

// FuzzRestore restores any records and then makes every report about what they have made known. No record may end the
// process, then or later, and what a store keeps it takes back.
func FuzzRestore(f *testing.F) {
	s, j := reopen(f, filepath.Join(f.TempDir(), "history"), store.Limits{})
	live(f, s)
	require.NoError(f, s.Deployments.CreateChain(piped, &pipedservice.CreateDeploymentChainRequest{
		FirstDeployment: newDeployment("first", "a"),
		Matchers:        []*pipedservice.CreateDeploymentChainRequest_ApplicationMatcher{{Name: "a"}},
	}))
	kept(f, j)
	var records []journal.Record
	s.Kept(func(r journal.Record) { records = append(records, r) })
	f.Add(text(records...))
	for _, r := range records {
		f.Add(text(r))
		f.Add(text(records[0], r))
	}
	// Objects without their parts.
	for kind, m := range map[journal.Kind]proto.Message{
		journal.Application: &model.Application{Id: "a", ProjectId: project, PipedId: piped},
		journal.Command: &model.Command{Id: "c", ProjectId: project, PipedId: piped,
			Type: model.Command_CHAIN_SYNC_APPLICATION},
		journal.Event: &model.Event{Id: "e", ProjectId: project},
		journal.Piped: &model.Piped{Id: "other", ProjectId: project},
	} {
		data, err := proto.Marshal(m)
		require.NoError(f, err)
		f.Add(text(journal.Record{Kind: kind, Key: strings.Repeat("00", 32), Model: data}))
	}
	bare, err := proto.Marshal(&model.Deployment{Id: "d", ProjectId: project, PipedId: piped, ApplicationId: "a",
		Stages: []*model.PipelineStage{{Id: "s"}}})
	require.NoError(f, err)
	f.Add(text(journal.Record{Kind: journal.Deployment, ID: "d", Model: bare}))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer time.AfterFunc(20*time.Second, func() { panic("the store hangs") }).Stop()
		s, _ := newStore(store.Limits{Deployments: 20, DeploymentsPerApplication: 5, Chains: 3, Events: 5,
			StageLogBytes: 1 << 12, LogBytes: 1 << 14})
		for _, r := range parse(data) {
			_ = s.Restore(r)
		}
		s.Restored()
		look(s)
		before := recordsOf(s)
		again, _ := newStore(store.Limits{})
		for _, r := range before {
			if err := again.Restore(r); err != nil {
				t.Fatalf("a record that was kept is refused: %v: %v", r, err)
			}
		}
		for _, r := range before {
			report(t, s, r)
		}
		look(s)
		for _, r := range before {
			again.Lost(r)
		}
		again.Watching("/another")
		look(again)
	})
}

func recordsOf(s *store.Store) (records []journal.Record) {
	s.Kept(func(r journal.Record) { records = append(records, r) })
	return records
}

// look reads everything.
func look(s *store.Store) {
	sub, _ := s.Subscribe(true)
	sub.Close()
	s.Applications.List(func(*model.Application) bool { return true }, store.Position{}, everything)
	s.Applications.OfPiped(piped, "", "", everything)
	for _, m := range allDeployments(s) {
		_, _ = s.Deployments.Get(m.GetId())
		_, _, _ = s.Deployments.StageLogs(m.GetId())
		for _, stage := range m.GetStages() {
			_, _ = s.Deployments.ReadLog(m.GetId(), stage.GetId(), 0)
			s.Commands.Approvals(m.GetId(), stage.GetId())
		}
		_, _ = s.Deployments.InChainPlannable(m.GetPipedId(), m.GetId(), m.GetDeploymentChainId(),
			m.GetDeploymentChainBlockIndex())
	}
	openOf(s, piped)
	allEvents(s)
	s.Commands.Waiting(piped)
	s.Pipeds.WatchedRepositories()
	s.Pipeds.Check()
}

// report makes every call about one object; what it answers does not matter.
func report(t *testing.T, s *store.Store, r journal.Record) {
	t.Helper()
	switch r.Kind {
	case journal.Application:
		m := &model.Application{}
		require.NoError(t, proto.Unmarshal(r.Model, m))
		reportApplication(s, m)
	case journal.Deployment:
		m := &model.Deployment{}
		require.NoError(t, proto.Unmarshal(r.Model, m))
		reportDeployment(s, m)
	case journal.Command:
		m := &model.Command{}
		require.NoError(t, proto.Unmarshal(r.Model, m))
		_, _, _ = s.Commands.Get(m.GetId())
		_, _ = s.Commands.Await(m.GetId())
		_, _ = s.Commands.Add(m)
		_ = s.Commands.ReportHandled(m.GetPipedId(),
			store.HandledCommand{ID: m.GetId(), Status: model.CommandStatus_COMMAND_FAILED})
		_, _ = store.DecodePlanPreview(m, []byte("{}"))
	case journal.Event:
		_ = s.Events.ReportStatus(r.ID, model.EventStatus_EVENT_SUCCESS, "")
	case journal.Piped:
		_ = s.Pipeds.Update(r.ID, "n", "d")
		_ = s.Pipeds.SetDisabled(r.ID, false)
		_, _ = s.Pipeds.ReportMeta(r.ID, meta("/srv/repo",
			&model.Piped_Plugin{Name: "kubernetes", DeployTargets: []string{"local"}}))
		_ = s.Pipeds.ReportPlugins(r.ID, []*agentv1.Plugin{{Name: "kubernetes"}})
		_ = s.Pipeds.ReportHealth(r.ID, []*agentv1.Problem{{Part: "git"}})
		_ = s.Pipeds.RestartPlugin(r.ID, "kubernetes")
		s.Pipeds.PlanPreviewTargets("/srv/repo", "b", "c", "main", time.Minute)
		s.Pipeds.Refused(r.ID)
		s.Pipeds.Saw(r.ID)
	case journal.Cluster:
		s.Recognise(r.ID, "another one")
	case journal.Object:
		_, _ = s.Objects.Get(piped, r.ID, r.Name, r.Key)
		_ = s.Objects.Put(piped, r.ID, r.Name, r.Key, []byte("new"))
	case journal.Analysis:
		_, _ = s.Objects.Analysis(piped, r.ID)
		_ = s.Objects.PutAnalysis(piped, r.ID, &model.AnalysisResult{})
	}
}

func reportApplication(s *store.Store, m *model.Application) {
	id, owner := m.GetId(), m.GetPipedId()
	path := &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: "new"}
	_ = s.Applications.ReportSyncState(owner, id, &model.ApplicationSyncState{})
	_ = s.Applications.ReportDeploying(owner, id, true)
	_ = s.Applications.ReportMostRecentDeployment(owner, id, model.DeploymentStatus_DEPLOYMENT_SUCCESS,
		&model.ApplicationDeploymentReference{DeploymentId: "d"})
	_, _ = s.Applications.MostRecentDeployment(owner, id, model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	_ = s.LiveStates.Report(owner, &model.ApplicationLiveStateSnapshot{ApplicationId: id})
	s.LiveStates.Apply(owner, []*model.KubernetesResourceStateEvent{{ApplicationId: id}})
	_, _ = s.LiveStates.Get(id)
	_, _ = s.LiveStates.Resources(id)
	_ = s.Applications.UpdateInfo(owner, []*model.ApplicationInfo{{Id: id, Name: "n"}})
	_ = s.Applications.ReportPlugins(owner,
		[]*agentv1.ApplicationPlugins{{RepoId: m.GetGitPath().GetRepo().GetId(), Path: m.GetGitPath().GetPath(),
			Plugins: []string{"wait"}}})
	_, _ = s.Applications.Register(owner, []*model.ApplicationInfo{info("new")})
	_ = s.Applications.SetDeployTargets(id,
		map[string]*model.DeployTargets{"kubernetes": {DeployTargets: []string{"local"}}})
	_ = s.Applications.RenameConfigFile([]string{id}, "other.pipecd.yaml")
	_ = s.Applications.Move(id, owner, "p", path)
	_ = s.Applications.SetDisabled(id, true)
	_, _ = s.Applications.Add(m)
	_ = s.Deployments.Create(owner, newDeployment("of "+id, id))
	_ = s.Deployments.CreateChain(owner, &pipedservice.CreateDeploymentChainRequest{
		FirstDeployment: newDeployment("first of "+id, id),
		Matchers:        []*pipedservice.CreateDeploymentChainRequest_ApplicationMatcher{{Kind: m.GetKind().String()}},
	})
	_ = s.DeleteApplication(id)
}

func reportDeployment(s *store.Store, m *model.Deployment) {
	id, owner := m.GetId(), m.GetPipedId()
	stages := append(m.GetStages(), &model.PipelineStage{Id: "none"})
	_, _ = s.Deployments.OfPiped(owner, id)
	_ = s.Deployments.Create(owner, m)
	_ = s.Deployments.ReportPlanned(owner,
		&pipedservice.ReportDeploymentPlannedRequest{DeploymentId: id, Stages: stages,
			SyncStrategy: model.SyncStrategy_PIPELINE})
	_ = s.Deployments.ReportStatus(owner, id, model.DeploymentStatus_DEPLOYMENT_RUNNING, "")
	_ = s.Deployments.MergeMetadata(owner, id, map[string]string{"k": "v"})
	_ = s.Deployments.MergeSharedMetadata(owner, id, map[string]string{"k": "v"})
	_ = s.Deployments.MergePluginMetadata(owner, id, "p", map[string]string{"k": "v"})
	for _, stage := range stages {
		_ = s.Deployments.MergeStageMetadata(owner, id, stage.GetId(), map[string]string{"k": "v"})
		_ = s.Deployments.AppendLog(owner, store.LogReport{DeploymentID: id, StageID: stage.GetId(),
			Blocks: blocks(0, 3, "x")})
		_ = s.Deployments.ReportStage(owner, stageReport(id, stage.GetId(), model.StageStatus_STAGE_RUNNING, 1))
		_ = s.Deployments.AppendLog(owner, store.LogReport{DeploymentID: id, StageID: stage.GetId(), Attempt: 1,
			Checkpoint: true, Completed: true})
		_, _ = s.Commands.Add(&model.Command{PipedId: owner, Type: model.Command_APPROVE_STAGE, DeploymentId: id,
			StageId: stage.GetId()})
	}
	statuses := map[string]model.StageStatus{}
	for _, stage := range stages {
		statuses[stage.GetId()] = model.StageStatus_STAGE_SUCCESS
	}
	_ = s.Deployments.ReportCompleted(owner, &pipedservice.ReportDeploymentCompletedRequest{
		DeploymentId: id, Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS, StageStatuses: statuses, CompletedAt: 1,
	})
	_, _ = s.Deployments.InChainPlannable(owner, id, m.GetDeploymentChainId(), m.GetDeploymentChainBlockIndex())
}
