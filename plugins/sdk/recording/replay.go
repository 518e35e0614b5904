// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// ReplayOptions say how a recording is played.
type ReplayOptions struct {
	// Repository is a checkout of the repository that the applications lie in; it stands for every commit. Empty is
	// directories with nothing but the application configuration.
	Repository string
	// Ignore are texts that may differ, besides what differs from run to run: ids, times, durations, ports.
	Ignore []*regexp.Regexp
	// Start runs the plugin against a piped.
	Start func(piped *standin.Piped) (*standin.Program, error)
	// Done, when set, gets each call when it is compared.
	Done func(Outcome)
}

// Outcome is how one part of the replay compares: a call of piped, or what the plugin has reported of a stage.
type Outcome struct {
	// Name says which call or report.
	Name string
	// Differences are none when the plugin did as recorded.
	Differences []Difference
}

// Difference is one thing that is not as recorded.
type Difference struct {
	// What differs, such as "answer" or "log".
	What string
	// Recorded and Replayed are texts to compare, without what differs from run to run.
	Recorded, Replayed string
}

// Replay makes the recorded calls of piped in their order, one after the other, and compares the answers; then it
// compares what the plugin has reported: logs and metadata. A plugin that ends by itself, which is a difference, and
// one whose process ended in the recording, is started again for the other calls. The error is for what keeps the
// replay from being made; the outcomes are those until then.
func Replay(ctx context.Context, rec *Recording, options ReplayOptions) (outcomes []Outcome, err error) {
	rec = withoutInterrupted(rec)
	player := &player{rec: rec, options: options, paths: pathsOf(rec), known: answersOf(rec), expected: observe(rec)}
	if player.scratch, err = os.MkdirTemp("", "pipedeck-replay-"); err != nil {
		return nil, fmt.Errorf("make a directory for sources: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(player.scratch)) }()
	if player.piped, err = standin.Start(standin.Options{Before: player.known.find}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, player.piped.Close()) }()
	player.giveCommands()
	if player.program, err = options.Start(player.piped); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, player.close()) }()

	done := func(outcome Outcome) {
		outcomes = append(outcomes, outcome)
		if options.Done != nil {
			options.Done(outcome)
		}
	}
	stages, err := player.calls(ctx, done)
	if err != nil {
		return outcomes, err
	}
	for _, outcome := range player.reports(stages) {
		done(outcome)
	}
	return outcomes, nil
}

// player is a replay.
type player struct {
	rec     *Recording
	options ReplayOptions
	piped   *standin.Piped
	// program is the process; over says that it has ended, lost that it was not reached at the last call.
	program    *standin.Program
	over, lost bool

	scratch  string
	paths    map[string]string // application id → path in its repository
	known    *knownAnswers
	expected *reported
	// recorded and replayed are the directories of sources, which plugins name in their logs.
	recorded, replayed []string
}

// stageRef is a stage that was executed.
type stageRef struct {
	id, name    string
	interrupted bool
}

// replayable leaves out what has no answer: health, and questions that end with news.
func replayable(call *Call) bool {
	return !call.Stream && !strings.HasPrefix(call.Method, "/grpc.health.v1.") &&
		!strings.HasSuffix(call.Method, "/AwaitChanges")
}

func (p *player) play(ctx context.Context, call *Call) (Outcome, stageRef, error) {
	var stage stageRef
	request, err := Message(call.Method, true)
	if err != nil {
		return Outcome{}, stage, err
	}
	if err := proto.Unmarshal(call.Request, request); err != nil {
		return Outcome{}, stage, fmt.Errorf("the recorded request cannot be read: %w", err)
	}
	want, _ := Message(call.Method, false)
	got := proto.Clone(want)
	if err := proto.Unmarshal(call.Response, want); err != nil {
		return Outcome{}, stage, fmt.Errorf("the recorded answer cannot be read: %w", err)
	}
	if err := p.relocate(request); err != nil {
		return Outcome{}, stage, err
	}
	name := call.Method[strings.LastIndexByte(call.Method, '/')+1:]
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, callLimit(call))
	defer cancel()
	if execute, ok := request.(*deployment.ExecuteStageRequest); ok {
		s := execute.GetInput().GetStage()
		stage = stageRef{s.GetId(), s.GetName(), call.Interrupted()}
		name += " " + s.GetName()
		if stage.interrupted {
			name += " up to its interruption"
		}
		if stage.interrupted || call.Code == codes.Canceled.String() || call.Code == codes.DeadlineExceeded.String() {
			stop := p.cancelAsRecorded(ctx, stage.id, call, cancel)
			defer stop()
		}
	}
	name = fmt.Sprintf("%d %s", call.Seq, name)
	err = p.program.Conn.Invoke(ctx, call.Method, request, got, grpc.MaxCallRecvMsgSize(maxMessage))
	p.lost = status.Code(err) == codes.Unavailable
	if stage.interrupted { // nothing came back from it
		return Outcome{Name: name}, stage, nil
	}
	if stage.id != "" && canceled(status.Code(err).String()) && p.expected.stage(stage.id).completed {
		// The last words of a cancelled stage come after the end of its call.
		ctx, cancel := context.WithTimeout(outer, lastWordsLimit)
		_ = p.piped.Until(ctx, func() bool { return p.piped.Completed(stage.id) })
		cancel()
	}
	return Outcome{Name: name, Differences: p.compareAnswers(call, want, got, err)}, stage, nil
}

// lastWordsLimit bounds how long a cancelled stage may take to end its log.
const lastWordsLimit = 30 * time.Second

// slowLines is how much longer than in the recording a busy machine may take to write the lines before a cancel.
const slowLines = 10 * time.Second

// callLimit is the time for one call: a busy machine may need several times what the recorded one needed.
func callLimit(call *Call) time.Duration { return 30*time.Second + 3*call.Took() }

// cancelAsRecorded cancels a call that was cancelled in the recording: when the stage has written what it wrote there,
// but for a last line, which may be about the cancel; or when it has run as long.
func (p *player) cancelAsRecorded(ctx context.Context, stage string, call *Call,
	cancel context.CancelFunc) (stop func()) {
	wanted := strings.Count(p.expected.log(stage), "\n") - 1
	if call.Interrupted() { // which no line is about
		wanted++
	}
	limit := max(call.Took(), time.Second)
	if wanted > 0 {
		limit = slowLines + call.Took()
	}
	ctx, end := context.WithTimeout(ctx, limit)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := p.piped.Until(ctx, func() bool {
			return wanted > 0 &&
				strings.Count(p.piped.Log(stage), "\n") >= wanted
		})
		if !errors.Is(err, context.Canceled) { // the call has ended by itself
			cancel()
		}
	}()
	return func() {
		end()
		<-ended
	}
}

func (p *player) compareAnswers(call *Call, want, got proto.Message, err error) (list []Difference) {
	code := status.Code(err).String()
	if canceled(call.Code) && canceled(code) {
		return nil
	}
	if code != call.Code {
		return []Difference{{"status", callEnd(call.Code, call.Message), callEnd(code, status.Convert(err).Message())}}
	}
	if err != nil {
		return p.differ(list, "message of the error", call.Message, status.Convert(err).Message())
	}
	if w, ok := want.(*deployment.ExecuteStageResponse); ok && w.GetMessage() == "" {
		got.(*deployment.ExecuteStageResponse).Message = "" // PipeCD's plugins never fill it
	}
	ClearIdentity(want.ProtoReflect())
	ClearIdentity(got.ProtoReflect())
	if proto.Equal(want, got) {
		return nil
	}
	return p.differ(list, "answer", render(want), render(got))
}

func canceled(code string) bool {
	return code == codes.Canceled.String() || code == codes.DeadlineExceeded.String()
}

func callEnd(code, message string) string {
	if message == "" {
		return code
	}
	return code + ": " + message
}

// reports compares what was reported of the executed stages and for the deployments.
func (p *player) reports(stages []stageRef) []Outcome {
	var outcomes []Outcome
	seen := map[string]bool{}
	for _, stage := range stages {
		if seen[stage.id] {
			continue // a later attempt: what is reported counts for all
		}
		seen[stage.id] = true
		outcome := Outcome{Name: "reports of stage " + stage.name}
		if stage.interrupted {
			expected := p.expected.log(stage.id)
			outcome.Differences = p.differ(nil, "log", expected,
				beginning(logText(p.piped.Blocks(stage.id, false)), expected))
			outcomes = append(outcomes, outcome)
			continue
		}
		outcome.Differences = p.differ(outcome.Differences, "log", p.expected.log(stage.id),
			logText(p.piped.Blocks(stage.id, false)))
		outcome.Differences = p.differ(outcome.Differences, "metadata",
			metadataText(p.expected.stage(stage.id).metadata), metadataText(p.piped.StageMetadata(stage.id)))
		if p.expected.stage(stage.id).completed != p.piped.Completed(stage.id) {
			outcome.Differences = append(outcome.Differences, Difference{
				"end of the log", ended(p.expected.stage(stage.id).completed), ended(p.piped.Completed(stage.id)),
			})
		}
		outcomes = append(outcomes, outcome)
	}
	kept := Outcome{Name: "what is kept with deployments"}
	kept.Differences = p.differ(nil, "metadata", metadataText(p.expected.plugin),
		metadataText(p.piped.PluginMetadata(p.rec.Plugin)))
	if len(p.expected.tools) > 0 { // a recording of one stage has none: calls for tools do not name their stage
		kept.Differences = p.differ(kept.Differences, "tools", toolsText(p.expected.tools),
			toolsText(p.piped.Installed()))
	}
	return append(outcomes, kept)
}

func ended(completed bool) string {
	if completed {
		return "reported as complete"
	}
	return "not reported as complete"
}

// differ adds a difference unless the texts only differ in what may differ.
func (p *player) differ(list []Difference, what, recorded, replayed string) []Difference {
	recorded, replayed = normalize(inPlace(recorded, p.recorded),
		p.options.Ignore), normalize(inPlace(replayed, p.replayed), p.options.Ignore)
	if recorded == replayed {
		return list
	}
	return append(list, Difference{what, recorded, replayed})
}

// giveCommands has approvals and skips ready: the stage that asked for them in the recording gets them at once.
func (p *player) giveCommands() {
	for _, given := range commandsOf(p.rec) {
		p.piped.Command(given.GetStageId(), given)
	}
}

// relocate points the sources of a request to directories of this machine.
func (p *player) relocate(request proto.Message) error {
	path := p.paths[applicationOf(request)]
	for _, source := range sourcesOf(request.ProtoReflect()) {
		if source.GetApplicationDirectory() == "" {
			continue // the plugin had no use for it
		}
		p.recorded = append(p.recorded, source.GetApplicationDirectory())
		if p.options.Repository != "" {
			source.ApplicationDirectory = filepath.Join(p.options.Repository, filepath.FromSlash(path))
			source.SharedConfigDirectory = filepath.Join(p.options.Repository, ".pipe")
			p.replayed = append(p.replayed, source.ApplicationDirectory)
			continue
		}
		dir, err := os.MkdirTemp(p.scratch, "source-")
		if err != nil {
			return fmt.Errorf("make a directory for sources: %w", err)
		}
		if name := filepath.Base(source.GetApplicationConfigFilename()); name != "." &&
			name != string(filepath.Separator) {
			if err := os.WriteFile(filepath.Join(dir, name), source.GetApplicationConfig(), 0o600); err != nil {
				return fmt.Errorf("write the recorded application configuration: %w", err)
			}
		}
		source.ApplicationDirectory, source.SharedConfigDirectory = dir, filepath.Join(dir, ".pipe")
		p.replayed = append(p.replayed, dir)
	}
	return nil
}
