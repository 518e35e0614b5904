// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
)

// change is what a plan preview says.
type change int

const (
	unseen change = iota
	nothing
	changes
)

// likeness is whether deploy targets hold a commit.
type likeness int

const (
	unknownLikeness likeness = iota
	sameAsCommit
	otherThanCommit
)

// view is what the plugin says about a commit at a moment.
type view struct {
	resources []*model.ResourceState
	sync      model.ApplicationSyncStatus
	reason    string
	explained bool // with a short reason or a long one
	change    change
	summary   string
}

// like is whether the deploy targets hold the commit, as the sync state or else the plan preview has it.
func (v *view) like() likeness {
	switch {
	case v.sync == model.ApplicationSyncStatus_SYNCED,
		v.sync == model.ApplicationSyncStatus_UNKNOWN && v.change == nothing:
		return sameAsCommit
	case v.sync == model.ApplicationSyncStatus_OUT_OF_SYNC,
		v.sync == model.ApplicationSyncStatus_UNKNOWN && v.change == changes:
		return otherThanCommit
	}
	return unknownLikeness
}

// sequel is what was seen once the other commit was deployed.
type sequel struct {
	// only and others are the last deploy target and the others after a deployment to the last alone.
	only, others likeness
	onlyEnd      error // of that deployment
	// mixed and lastNow are the live state of the first commit then, at all deploy targets and at the last alone.
	mixed, lastNow *view
	// second is about the other commit once it was deployed.
	second      *view
	notified    *bool
	rollbackEnd error
	restored    likeness
	undone      undone
	blocked     blocked
}

// story is what was seen while an application and a changed copy of it were deployed.
type story struct {
	probe   *probe
	session *session
	targets []string
	// stage deploys, rollback brings back; rollback is empty when there is none.
	stage, rollback string
	// first and other are the two commits; what names the file that differs, named is whether the configuration of the
	// application has its name.
	first, other *common.DeploymentSource
	what         string
	named        bool

	// missed are the deploy targets that do not hold the first commit after its deployment.
	missed []string
	// before and after the deployment of the first commit, about the first; changed is about the other one then, and
	// previewed about the first once the other one was previewed, with what a second plan preview of the other one
	// said; last is about the last deploy target alone.
	before, after, changed, previewed, last *view
	// emptied is the sync state with an application without files.
	emptied model.ApplicationSyncStatus
	files   evidence
	sequel
}

// enact deploys the two commits. Other stages of the suite wait meanwhile: they have the same deploy targets.
func (p *probe) enact() (*story, error) {
	s := &story{probe: p, targets: p.suite.targets()}
	if e, err := p.settled(); err != nil {
		return nil, err
	} else if e.failed() {
		return nil, skip("the stage does not succeed, see execution.ends")
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	p.suite.deploying.Lock()
	defer p.suite.deploying.Unlock()
	s.before = s.look(s.first, s.targets)
	if err := s.deploy(s.stage, s.first, nil, s.targets); err != nil {
		return nil, skip("a quick sync does not succeed: %s", err)
	}
	defer func() { _ = s.deploy(s.stage, s.first, nil, s.targets) }() // what the caller wants to have there
	s.after = s.settle(s.first, s.targets)
	for _, target := range s.targets {
		if s.after.like() == otherThanCommit && s.look(s.first, []string{target}).like() == otherThanCommit {
			s.missed = append(s.missed, target)
		}
	}
	if s.last = s.after; len(s.targets) > 1 {
		s.last = s.look(s.first, s.targets[len(s.targets)-1:])
	}
	s.files.first = s.session.targetFiles()
	s.changed = s.lookLive(s.other, s.targets)
	asked := s.session.targetFiles()
	s.lookPreview(s.changed, s.other, s.targets)
	s.files.previewed = otherwise(asked, s.session.targetFiles())
	again := &view{}
	s.lookPreview(again, s.other, s.targets)
	s.previewed = s.look(s.first, s.targets)
	s.previewed.change = again.change
	s.emptied = s.look(s.withoutFiles(), s.targets).sync
	if s.apart() || len(s.files.first) > 0 && s.after.like() != otherThanCommit {
		s.proceed()
	}
	return s, s.session.alive()
}

// proceed deploys the other commit, and takes it back.
func (s *story) proceed() {
	position := s.position()
	if len(s.targets) > 1 {
		s.onlyEnd = s.deploy(s.stage, s.other, s.first, s.targets[len(s.targets)-1:])
		if s.onlyEnd == nil {
			s.only = s.settle(s.other, s.targets[len(s.targets)-1:]).like()
			s.others = s.look(s.first, s.otherTargets()).like()
			s.askMixed()
			s.files.onlyLast = s.session.targetFiles()
		}
	}
	if err := s.deploy(s.stage, s.other, s.first, s.targets); err != nil {
		s.second = &view{}
		return
	}
	s.second = s.settle(s.other, s.targets)
	s.files.other = s.session.targetFiles()
	s.notified = s.awaited(position)
	if s.rollback != "" {
		s.rollbackEnd = s.deploy(s.rollback, s.other, s.first, s.targets)
		s.restored = s.settle(s.first, s.targets).like()
		s.files.restored = s.session.targetFiles()
	}
	if len(s.files.first) > 0 {
		s.repeat()
	}
	if len(s.files.moved()) > 0 {
		s.block()
	}
	if s.rollback != "" {
		s.undo()
	}
}

// repeat deploys the files of the first commit with the hash of the other: what is the same as with the first commit
// depends on the files alone.
func (s *story) repeat() {
	again := proto.CloneOf(s.first)
	again.CommitHash = s.other.GetCommitHash()
	if s.deploy(s.stage, again, s.first, s.targets) == nil {
		s.files.repeated = s.session.targetFiles()
	}
}

// prepare finds the stage, and makes the two commits.
func (s *story) prepare() (err error) {
	p := s.probe
	if len(s.targets) == 0 {
		return skip("it has no deploy targets")
	}
	stages, err := p.quick(true)
	if err != nil {
		return skip("it plans no quick sync, see quicksync.answers")
	}
	plain, rollbacks := usual(stages, false), usual(stages, true)
	if len(plain) != 1 || plain[0].GetName() != p.suite.stage(p.used) {
		return skip("the stage %s alone is no quick sync", p.suite.stage(p.used))
	}
	s.stage = plain[0].GetName()
	if len(rollbacks) == 1 {
		s.rollback = rollbacks[0].GetName()
	}
	if s.first, err = p.suite.sourceFor(); err != nil {
		return err
	}
	if s.other, s.what, err = p.suite.changedSource(); err != nil {
		return err
	}
	s.named = s.what != "" && namesFile(s.first.GetApplicationConfig(), s.what)
	s.session, err = p.start(setup{})
	return err
}

// deploy executes a stage of a quick sync, and returns why it has not succeeded.
func (s *story) deploy(stage string, target, running *common.DeploymentSource, at []string) error {
	return s.deployIn(s.session, stage, target, running, at)
}

func (s *story) deployIn(x *session, stage string, target, running *common.DeploymentSource, at []string) error {
	edit := func(r *deployment.ExecuteStageRequest) {
		in := r.GetInput()
		in.StageConfig = nil
		in.TargetDeploymentSource, in.RunningDeploymentSource = proto.CloneOf(target), proto.CloneOf(running)
		in.Deployment.DeployTargetsByPlugin = map[string]*model.DeployTargets{
			s.probe.suite.options.Settings.Name: {DeployTargets: at}}
		in.Deployment.Trigger.Commit.Hash = target.GetCommitHash()
		in.Stage.Rollback = stage == s.rollback
	}
	e, err := x.execute(s.probe, order{stage: stage, exclusive: true, edit: edit})
	switch {
	case err != nil:
		return err
	case e.problem() != nil:
		return e.problem()
	case e.cut || e.failed():
		return fmt.Errorf("the stage ended in %s", e.how())
	}
	return nil
}

// settle looks until the deploy targets hold the commit, or for some time.
func (s *story) settle(source *common.DeploymentSource, at []string) *view {
	for began := time.Now(); ; s.probe.pause(100 * time.Millisecond) {
		v := s.look(source, at)
		late := time.Since(began) > s.probe.suite.bounds.settle() || s.probe.ctx.Err() != nil
		if v.like() != otherThanCommit || late {
			return v
		}
	}
}

// look asks for the live state and the plan preview of a commit.
func (s *story) look(source *common.DeploymentSource, at []string) *view {
	v := s.lookLive(source, at)
	s.lookPreview(v, source, at)
	return v
}

func (s *story) lookLive(source *common.DeploymentSource, at []string) *view {
	v := &view{}
	ctx, cancel := s.probe.limit()
	defer cancel()
	live, err := livestate.NewLivestateServiceClient(s.session.conn).GetLivestate(ctx,
		s.probe.suite.liveRequest(proto.CloneOf(source), at))
	if err == nil {
		v.resources = live.GetApplicationLiveState().GetResources()
		v.sync = live.GetSyncState().GetStatus()
		v.reason = firstLine(live.GetSyncState().GetShortReason())
		v.explained = live.GetSyncState().GetShortReason()+live.GetSyncState().GetReason() != ""
	}
	return v
}

func (s *story) lookPreview(v *view, source *common.DeploymentSource, at []string) {
	ctx, cancel := s.probe.limit()
	defer cancel()
	preview, err := planpreview.NewPlanPreviewServiceClient(s.session.conn).GetPlanPreview(ctx,
		s.probe.suite.previewRequest(proto.CloneOf(source), proto.CloneOf(s.first), at))
	if err != nil || len(preview.GetResults()) == 0 {
		return
	}
	v.change = nothing
	for _, result := range preview.GetResults() {
		v.summary = firstLine(result.GetSummary())
		if !result.GetNoChange() {
			v.change = changes
			break
		}
	}
}

// apart is whether the plugin distinguishes the first commit, which is deployed, from the other one.
func (s *story) apart() bool {
	return s.after.like() == sameAsCommit && s.changed.like() == otherThanCommit
}

func (s *story) lastTarget() string     { return s.targets[len(s.targets)-1] }
func (s *story) otherTargets() []string { return s.targets[:len(s.targets)-1] }

// same is whether two views have equal resources, apart from times.
func (s *story) same(a, b *view) bool {
	if len(a.resources) != len(b.resources) {
		return false
	}
	for i := range a.resources {
		one, two := proto.CloneOf(a.resources[i]), proto.CloneOf(b.resources[i])
		one.CreatedAt, one.UpdatedAt, two.CreatedAt, two.UpdatedAt = 0, 0, 0, 0
		if !proto.Equal(one, two) {
			return false
		}
	}
	return true
}

// position is where the changes of the live state are; nil when the plugin does not notify of them.
func (s *story) position() *livestate.AwaitChangesResponse {
	answer, err := firstChange(s.probe, s.session)
	if err != nil {
		return nil
	}
	if answer == nil {
		answer = &livestate.AwaitChangesResponse{}
	}
	return answer
}

// awaited is whether the application was reported after a position; nil when the plugin does not notify.
func (s *story) awaited(from *livestate.AwaitChangesResponse) *bool {
	if from == nil {
		return nil
	}
	reported := false
	for began := time.Now(); !reported && time.Since(began) < s.probe.suite.bounds.settle(); {
		answer, err := s.probe.changes(s.session, time.Second,
			&livestate.AwaitChangesRequest{Instance: from.GetInstance(), Position: from.GetPosition()})
		if err != nil {
			continue
		}
		from = answer
		reported = answer.GetAll() || len(answer.GetApplicationIds()) > 0
		s.probe.pause(10 * time.Millisecond)
	}
	return &reported
}
