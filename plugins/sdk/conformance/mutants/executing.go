// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// options are those of the stage WORK.
type options struct {
	Steps int    `json:"steps"`
	Word  string `json:"word"`
	Run   string `json:"run"`
}

func (d *deployments) ExecuteStage(ctx context.Context,
	req *deployment.ExecuteStageRequest) (*deployment.ExecuteStageResponse, error) {
	in := req.Input
	name := in.Stage.Name
	if name == workRollback && makes("rollback-crashes") {
		panic("nothing to roll back to")
	}
	if name != work && name != workRollback && name != "WORK_CHECK" && !makes("runs-anything") {
		return nil, status.Errorf(codes.InvalidArgument, "there is no stage %s", name)
	}
	if err := d.refuses(in); err != nil {
		return nil, err
	}
	s := d.begin(ctx, in)
	defer s.leave()
	err := s.run(in)
	return s.answer(err)
}

// refuses makes the mistakes that end a stage before it begins.
func (d *deployments) refuses(in *deployment.ExecutePluginInput) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case makes("crashes"):
		panic("a bug")
	case makes("trusts-input", "trusts-fields") && in.Deployment.Trigger.Commit.Hash == "":
		panic("no commit")
	case makes("works-once") && d.ended > 0:
		return status.Error(codes.FailedPrecondition, "already done")
	case makes("refuses-with-options"):
		return status.Errorf(codes.InvalidArgument, "I do not like %s", in.GetStageConfig())
	case makes("refuses-new-fields") && len(in.ProtoReflect().GetUnknown()) > 0:
		return status.Error(codes.InvalidArgument, "unknown field")
	case makes("ascii") && strings.ContainsFunc(in.Deployment.ApplicationName, func(r rune) bool { return r > 127 }):
		return status.Error(codes.InvalidArgument, "the name of the application is not ASCII")
	case makes("sources-needed"):
		_ = in.TargetDeploymentSource.ApplicationDirectory
	case makes("crashes-together") && d.running > 0:
		panic("fatal error: concurrent map writes")
	case makes("fails-together") && d.running > 0:
		return status.Error(codes.Aborted, "busy")
	case makes("lock-left"):
		lock := os.Args[0] + "." + in.Deployment.Id
		if _, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return status.Error(codes.FailedPrecondition, "another one deploys")
		}
	}
	return nil
}

// run does the work of a stage.
func (s *running) run(in *deployment.ExecutePluginInput) error {
	s.keepsBefore(in)
	var opts options
	switch err := json.Unmarshal(in.StageConfig, &opts); {
	case makes("options-needed") && len(in.StageConfig) == 0:
		panic("no options")
	case len(in.StageConfig) == 0 || makes("options-ignored"):
	case err != nil && makes("options-lenient") && json.Valid(in.StageConfig):
	case err != nil && makes("options-any") && json.Valid(in.StageConfig) && in.StageConfig[0] == '{':
	case err != nil:
		return fmt.Errorf("the options are wrong: %w", err)
	}
	if makes("options-of-application") {
		opts = s.optionsOf(in.Deployment.ApplicationId, opts)
	}
	if err := s.asked(in); err != nil {
		return err
	}
	done, err := s.get("done")
	if err != nil {
		return err
	}
	if makes("done-in-deployment") && s.doneBefore() {
		return nil
	}
	if done != "" && makes("begun-once") {
		return errors.New("it has begun already")
	}
	first, err := strconv.Atoi(done)
	if err != nil && done != "" && makes("metadata-trusted") {
		panic(err)
	}
	s.leaves(in)
	if opts.Run != "" {
		if err := exec.CommandContext(s.ctx, "/bin/sh", "-c", opts.Run).Run(); err != nil && !makes("command-ignored") {
			return fmt.Errorf("the command has failed: %w", err)
		}
	}
	for i := range max(opts.Steps, 1) {
		if err := s.step(i, first); err != nil {
			return err
		}
	}
	return s.lastly()
}

// asked makes the mistakes that are about piped.
func (s *running) asked(in *deployment.ExecutePluginInput) error {
	switch {
	case makes("needs-new-piped"):
		stream, err := agentv1.NewStageCommandServiceClient(s.conn).WatchStageCommands(s.ctx,
			&agentv1.WatchStageCommandsRequest{DeploymentId: s.deployment, StageId: s.stage})
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(s.ctx, 2*time.Second)
		defer cancel()
		received := make(chan error, 1)
		go func() { _, err := stream.Recv(); received <- err }()
		select {
		case err := <-received:
			return err
		case <-limited.Done():
		}
	case makes("logs-options"):
		s.log("options: " + string(in.StageConfig))
	case makes("logs-application"):
		s.log(string(in.GetTargetDeploymentSource().GetApplicationConfig()))
	case makes("polls"):
		var asking sync.WaitGroup
		for range 50 {
			asking.Go(func() {
				for range 20 {
					_, _ = s.get("done")
				}
			})
		}
		asking.Wait()
	}
	return nil
}

// step is one piece of work.
func (s *running) step(i, first int) error {
	s.log(fmt.Sprintf("step %d after %d", i, first))
	if err := s.put("done", strconv.Itoa(i+1)); err != nil {
		if makes("metadata-crashes") {
			panic(err)
		}
		return err
	}
	pause := 20 * time.Millisecond
	stubborn := makes("ignores-cancel", "works-after-cancel", "ignores-deadline")
	if stubborn && s.ctx.Err() != nil || makes("never-ends") {
		pause = time.Hour
	}
	if makes("waits-for-stages", "stop-hangs") {
		pause = time.Minute
	}
	if makes("ignores-cancel", "ignores-deadline") {
		for began := time.Now(); time.Since(began) < pause; time.Sleep(100 * time.Millisecond) {
			s.log("still at it")
		}
		return nil
	}
	if makes("cancels-all") {
		pause = 300 * time.Millisecond
	}
	if makes("heedless") {
		time.Sleep(pause)
		return nil
	}
	select {
	case <-time.After(pause):
		return nil
	case <-s.ctx.Done():
		if makes("cancel-crashes") {
			panic(s.ctx.Err())
		}
		return errStopped
	case <-s.stopping.Done():
		return errStopped
	}
}

// allDone is the last word of a stage that has done its work.
const allDone = "all steps are done"

var errStopped = errors.New("the stage was cancelled")

// lastly makes the mistakes of a stage that has done its work.
func (s *running) lastly() error {
	if s.ctx.Err() != nil && !makes("heedless", "ignores-cancel", "ignores-deadline") {
		return errStopped
	}
	switch {
	case makes("metadata-own-name"):
		return s.putShared("mutant")
	case makes("password-argument-late"):
		_ = exec.Command("sh", "-c", "sleep 0.4; exit", "x", string(s.Config)).Run()
	case makes("logs-basic"):
		s.log("Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("user:canary-config-7Qm2xVt9\n")))
	}
	return s.putShared(s.Name)
}

// leaves makes the mistakes of what a stage leaves behind.
func (s *running) leaves(in *deployment.ExecutePluginInput) {
	home, _ := os.UserHomeDir()
	switch {
	case makes("writes-here"):
		_ = os.WriteFile("state.json", []byte("{}"), 0o600)
	case makes("writes-home"):
		_ = os.WriteFile(filepath.Join(home, "state.json"), []byte("{}"), 0o600)
	case makes("temporary-left"):
		_, _ = os.CreateTemp("", "mutant-")
	case makes("leaks-files"):
		file, _ := os.Open(os.Args[0])
		s.mu.Lock()
		s.files = append(s.files, file)
		s.mu.Unlock()
	case makes("leaks-memory-of-stages"):
		s.mu.Lock()
		s.kept = append(s.kept, bytes.Repeat([]byte("x"), 1<<20))
		s.mu.Unlock()
	case makes("leaks-goroutines"):
		go func() { select {} }()
	case makes("child-unreaped"):
		_ = exec.Command("true").Start()
	case makes("writes-after-cancel"):
		go s.writesOn(in.GetTargetDeploymentSource().GetApplicationDirectory())
	case makes("metrics-of-stage"):
		s.mu.Lock()
		s.metrics, _ = net.Listen("tcp", ":0")
		s.mu.Unlock()
	case makes("child-of-stage"):
		_ = child("3600").Start()
	case makes("password-argument"):
		_ = child("3600", string(s.Config)).Start()
	case makes("stores-source"):
		data, _ := os.ReadFile(filepath.Join(in.GetTargetDeploymentSource().GetApplicationDirectory(),
			"conformance-secret.txt"))
		_ = s.put("file", string(data))
	case makes("prints-colours"):
		fmt.Fprintln(os.Stderr, "\x1b[32mok\x1b[0m")
	case makes("prints-a-lot"):
		fmt.Fprintln(os.Stderr, strings.Repeat("debug ", 1<<18))
	}
}

// writesOn works in the sources for some time after the end of the stage.
func (s *running) writesOn(dir string) {
	<-s.ctx.Done()
	for i := range 50 {
		_ = os.WriteFile(filepath.Join(dir, "progress.txt"), []byte(strconv.Itoa(i)), 0o600)
		time.Sleep(100 * time.Millisecond)
	}
}

// child is a process that has left the group of its parent.
func child(args ...string) *exec.Cmd {
	command := exec.Command("sleep", args[:1]...)
	if len(args) > 1 {
		command = exec.Command("sh", "-c", "sleep 2; exit", args[1])
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return command
}

// answer ends the log of the stage, and the stage.
func (s *running) answer(err error) (*deployment.ExecuteStageResponse, error) {
	result := model.StageStatus_STAGE_SUCCESS
	if late := child("1.5"); makes("child-late") && late.Start() == nil {
		go func() { _ = late.Wait() }()
	}
	if makes("succeeds-at-sigterm") && errors.Is(err, errStopped) {
		err = nil
	}
	if err != nil {
		result = model.StageStatus_STAGE_FAILURE
	}
	switch {
	case err != nil && makes("fails-blank"):
		s.log(" ")
	case errors.Is(err, errStopped) && makes("cancel-says-done"):
		s.log(allDone)
	case err != nil && !makes("fails-silently"):
		s.logError(err)
	case err == nil && makes("cancel-says-done"):
		s.log(allDone)
	}
	if makes("works-on") {
		go func() {
			for range 50 {
				time.Sleep(100 * time.Millisecond)
				s.log("still at it")
			}
		}()
	}
	if makes("answers-early") {
		go func() { _ = s.complete() }()
	} else if err := s.complete(); err != nil && makes("log-impatient") {
		result = model.StageStatus_STAGE_FAILURE
	}
	switch {
	case makes("answers-running"):
		result = model.StageStatus_STAGE_RUNNING
	case makes("answers-nothing"), makes("no-second-attempt") && s.attempt > 0:
		result = model.StageStatus_STAGE_NOT_STARTED_YET
	}
	return &deployment.ExecuteStageResponse{Status: result}, nil
}
