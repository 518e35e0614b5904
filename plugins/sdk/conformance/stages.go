// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// executedID is the id of the stage that is let run to its end, and taken up after the restart.
const executedID = "executed"

// stage is the name of the stage that is executed.
func (r *run) stage() string {
	if r.options.Stage != "" || len(r.program.Stages) == 0 {
		return r.options.Stage
	}
	return r.program.Stages[0]
}

func (r *run) with() string {
	if r.options.With == "" {
		return "{}"
	}
	return r.options.With
}

// request asks for a stage of the application.
func (r *run) request(stage string) *deployment.ExecuteStageRequest {
	var targets []string
	for _, target := range r.options.Settings.DeployTargets {
		targets = append(targets, target.Name)
	}
	request := standin.ExecuteRequest(r.options.Settings.Name, targets, stage, r.with())
	request.Input.TargetDeploymentSource = proto.Clone(r.source).(*common.DeploymentSource)
	return request
}

// runLimit returns a context that is cancelled after the run limit, as piped cancels a stage. It has no deadline, which
// a plugin would see, and could answer to before the caller sees it.
func (r *run) runLimit() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.ctx)
	limit := time.AfterFunc(r.options.RunLimit, cancel)
	return ctx, func() { limit.Stop(); cancel() }
}

// call executes a stage under an id until it ends or ctx does.
func (r *run) call(ctx context.Context, stage, id string, attempt int32) (model.StageStatus, error) {
	request := r.request(stage)
	request.Input.Stage.Id, request.Input.Stage.RetriedCount = id, attempt
	answer, err := r.deployments().ExecuteStage(ctx, request)
	return answer.GetStatus(), err
}

// unknownStage is what a plugin gets when a configuration names what it does not have: it has to say so.
func (r *run) unknownStage() {
	ctx, cancel := r.runLimit()
	defer cancel()
	ended, err := r.call(ctx, "NO_SUCH_STAGE", "unknown", 0)
	name := "answers for a stage that it does not have"
	switch {
	case ctx.Err() != nil && r.alive() == nil:
		r.notApplicable(name, "it was still at work after %s, as for another stage; piped does not call for such "+
			"stages", r.options.RunLimit)
		return
	case err != nil && r.alive() == nil:
		r.check(name, nil, "%s", firstLine(status.Convert(err).Message()))
		return
	case err == nil && ended == model.StageStatus_STAGE_SUCCESS:
		r.notApplicable(name, "it does the work of another stage, and says that it succeeded; piped does not call "+
			"for such stages")
		return
	}
	r.check(name, err, "%s", ended)
}

// brokenRequest has nothing in it.
func (r *run) brokenRequest() {
	ctx, cancel := r.limit()
	defer cancel()
	_, err := r.deployments().ExecuteStage(ctx, &deployment.ExecuteStageRequest{})
	r.refused.clear() // what it asks piped for then is as broken
	name := "accepts a request without content"
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("it did not answer in %s", answerLimit)
	case r.alive() != nil || status.Code(err) == codes.Unavailable:
		err = errors.New("the process has ended: one request must not end the work for all others")
	default:
		r.check(name, nil, "%s", status.Code(err))
		return
	}
	r.check(name, err, "")
}

// execute lets the stage run to its end, if that comes soon enough.
func (r *run) execute() {
	name := "executes " + r.stage()
	ctx, cancel := r.runLimit()
	defer cancel()
	began := time.Now()
	ended, err := r.call(ctx, r.stage(), executedID, 0)
	switch {
	case ctx.Err() != nil && r.options.With != "":
		r.check(name, errors.New(r.cutOff()), "")
		r.stopped(executedID)
	case ctx.Err() != nil:
		r.notApplicable(name, "%s", r.cutOff())
		r.stopped(executedID)
	case r.refusal(err):
		r.unsuccessful(name, "it refuses: "+firstLine(status.Convert(err).Message()))
	case err == nil && ended == model.StageStatus_STAGE_FAILURE:
		r.executed = true
		r.unsuccessful(name, fmt.Sprintf("the stage ended in FAILURE after %s%s",
			time.Since(began).Round(time.Millisecond), r.lastWords()))
	default:
		if err == nil && !terminal(ended) {
			err = fmt.Errorf("it answered %s, which is no end", ended)
		}
		r.executed = r.check(name, err, "%s after %s%s", strings.TrimPrefix(ended.String(), "STAGE_"),
			time.Since(began).Round(time.Millisecond), r.lastWords())
	}
}

// cutOff says that a stage was cancelled at the run limit, and how it gets more time.
func (r *run) cutOff() string {
	return fmt.Sprintf("it was still running after %s and was cancelled; give it more time, for example with "+
		"--run-limit %s", r.options.RunLimit, moreTime(r.options.RunLimit))
}

// moreTime returns four times a limit, without units that are zero: 1m for 15s.
func moreTime(limit time.Duration) string {
	text := (4 * limit).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if whole, ok := strings.CutSuffix(text, zero); ok {
			text = whole + zero[:1]
		}
	}
	return text
}

// unsuccessful reports a stage that has not done its work. With the options that were given it should have; without
// options it may miss some.
func (r *run) unsuccessful(name, why string) {
	if r.options.With != "" {
		r.check(name, errors.New(why), "")
		return
	}
	r.noted(name, "%s; give it options with --with", why)
}

// lastWords are of the log, for a stage that failed.
func (r *run) lastWords() string {
	lines := strings.Split(strings.TrimSpace(r.piped.Log(executedID)), "\n")
	if last := firstLine(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}

func terminal(s model.StageStatus) bool {
	switch s {
	case model.StageStatus_STAGE_SUCCESS, model.StageStatus_STAGE_FAILURE, model.StageStatus_STAGE_CANCELLED,
		model.StageStatus_STAGE_SKIPPED, model.StageStatus_STAGE_EXITED:
		return true
	}
	return false
}

// reportedLog looks at what users would see of the executed stage.
func (r *run) reportedLog() {
	const name = "reports its log to the end"
	id := executedID
	stored, all := r.piped.Blocks(id, true), r.piped.Blocks(id, false)
	switch {
	case !r.executed:
		r.notApplicable(name, "the stage did not end by itself")
		return
	case r.piped.LogCalls(id) == 0:
		r.notApplicable(name, "the stage wrote none")
		return
	}
	var err error
	if !r.piped.Completed(id) {
		err = errors.New("no ReportStageLogsFromLastCheckpoint with completed came: UIs wait for more")
	} else if len(stored) < len(all) {
		err = fmt.Errorf("%d of %d blocks came with ReportStageLogs alone: the control plane forgets them",
			len(all)-len(stored), len(all))
	}
	r.check(name, err, "log blocks: %d", len(stored))
}

// refusals are requests of the plugin that the stand-in refused.
type refusals struct {
	mu   sync.Mutex
	list []string
}

func (l *refusals) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

func (r *run) invalid(method string, err error) {
	r.refused.mu.Lock()
	defer r.refused.mu.Unlock()
	r.refused.list = append(r.refused.list, fmt.Sprintf("%s: %s", method[strings.LastIndexByte(method, '/')+1:], err))
}

// requests looks at what the plugin asked piped for.
func (r *run) requests() {
	r.refused.mu.Lock()
	defer r.refused.mu.Unlock()
	var err error
	if len(r.refused.list) > 0 {
		err = fmt.Errorf("%d are refused, the first: %s", len(r.refused.list), r.refused.list[0])
	}
	r.check("its requests to piped are valid", err, "%s", r.storedKeys())
}

// storedKeys are those of the metadata that the executed stage has put.
func (r *run) storedKeys() string {
	keys := slices.Sorted(maps.Keys(r.piped.StageMetadata(executedID)))
	if len(keys) == 0 {
		return ""
	}
	return "stored with the stage: " + strings.Join(keys, ", ")
}

// cancel ends the call of a stage as soon as the stage has begun.
func (r *run) cancel() {
	if !r.executed {
		return // it has been cancelled, or cannot be executed
	}
	const id = "cancelled"
	ctx, cancel := r.runLimit()
	defer cancel()
	watching := r.onceBegun(ctx, id, cancel)
	_, err := r.call(ctx, r.stage(), id, 0)
	cancel()
	watching.Wait()
	if code := status.Code(err); code != codes.Canceled && code != codes.DeadlineExceeded {
		r.notApplicable(cancelName, "the stage ends too soon to be cancelled; try one that runs longer with "+
			"--stage and --with")
		return
	}
	r.stopped(id)
}

const cancelName = "stops when it is cancelled"

// onceBegun calls act when the stage has written something.
func (r *run) onceBegun(ctx context.Context, id string, act func()) *sync.WaitGroup {
	var watching sync.WaitGroup
	watching.Go(func() {
		if r.piped.Until(ctx, func() bool { return r.piped.LogCalls(id) > 0 }) == nil {
			act()
		}
	})
	return &watching
}

// stopped waits for the end of the log of a cancelled stage.
func (r *run) stopped(id string) {
	if r.piped.LogCalls(id) == 0 {
		r.check(cancelName, r.alive(), "it wrote no log that would show when")
		return
	}
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(r.ctx, stopLimit,
		fmt.Errorf("its log had no end %s after the cancel: the stage goes on, or is not reported as complete",
			stopLimit))
	defer cancel()
	err := r.piped.Until(ctx, func() bool { return r.piped.Completed(id) })
	r.check(cancelName, errors.Join(err, r.alive()), "after %s", time.Since(began).Round(time.Millisecond))
}

// again calls for the executed stage once more, as piped does after a restart.
func (r *run) again() {
	const name = "takes up a stage after a restart"
	ctx, cancel := r.runLimit()
	defer cancel()
	ended, err := r.call(ctx, r.stage(), executedID, 1)
	running := ctx.Err() != nil
	switch {
	case running:
		err = r.alive()
	case r.refusal(err):
		r.notApplicable(name, "it refuses: %s", firstLine(status.Convert(err).Message()))
		return
	case err == nil && !terminal(ended):
		err = fmt.Errorf("it answered %s, which is no end", ended)
	}
	if lost := r.piped.LogConflicts(executedID); err == nil && lost > 0 {
		err = fmt.Errorf("%d of its log blocks have indexes that an earlier attempt has used: users do not see them",
			lost)
	}
	if running && err == nil {
		r.notApplicable(name, "%s", r.cutOff())
		return
	}
	r.check(name, err, "%s", strings.TrimPrefix(ended.String(), "STAGE_"))
}

// endRunning stops the program while a stage runs.
func (r *run) endRunning() {
	const id = "interrupted"
	ctx, cancel := r.runLimit()
	defer cancel()
	client, request := r.deployments(), r.request(r.stage())
	request.Input.Stage.Id = id
	begun := make(chan struct{})
	watching := r.onceBegun(ctx, id, func() { close(begun) })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = client.ExecuteStage(ctx, request)
	}()
	select { // a stage may write nothing, or be over
	case <-begun:
	case <-ended:
	case <-ctx.Done():
	}
	r.end("ends after SIGTERM while a stage runs", true)
	cancel()
	<-ended
	watching.Wait()
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
