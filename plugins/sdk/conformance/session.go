// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// session is one run of the program with a separate piped.
type session struct {
	suite   *suite
	piped   *standin.Piped
	rec     *recorder
	process *process
	conn    *grpc.ClientConn
	port    int
	// stages are those that the plugin has reported.
	stages []string
	// home and temp are directories of this start alone, when it has been given them.
	home, temp string
	dir        string
	// parent is the end of the pipe that piped keeps open, of an orphanable start.
	parent *os.File
	// took is how long the start or the end has taken, without waiting for a processor.
	took time.Duration
}

// setup changes how a session is started.
type setup struct {
	// settings edits the plugin's entry of the piped configuration.
	settings func(*sdk.Settings)
	// old plays PipeCD's own piped.
	old bool
	// fail is recorder.fail.
	fail func(call) error
	// port is the one to serve at; 0 is any.
	port int
	// late has piped's service begin only after the start of the process.
	late bool
	// apart gives the program a separate home and temporary directory.
	apart      bool
	orphanable bool
	maxMessage int
	// spawned, when set, is called with the process once it runs.
	spawned func(*process)
}

// errNotStarted is why a case could not be run: the program does not start.
var errNotStarted = errors.New("the program does not start")

// missingError is errNotStarted for want of a module or a deploy target; next is what to do.
type missingError struct {
	error
	next string
}

func (e *missingError) Unwrap() error { return e.error }

// start runs the program as piped does and returns when it has reported its stages.
func (s *suite) start(ctx context.Context, how setup) (*session, error) {
	x := &session{suite: s, rec: newRecorder(), port: how.port}
	x.rec.fail = how.fail
	options := standin.Options{Old: how.old, Each: x.rec.each, Invalid: x.rec.refused, MaxMessage: how.maxMessage,
		Tool: installed}
	var err error
	if how.late {
		port, err := s.freePort()
		if err != nil {
			return nil, err
		}
		options.Address = loopback(port)
	} else if x.piped, err = standin.Start(options); err != nil {
		return nil, err
	} else {
		options.Address = x.piped.Address
	}
	if err := x.launch(options.Address, how); err != nil {
		return nil, errors.Join(err, x.close())
	}
	if how.late {
		if x.process.wait(ctx, 300*time.Millisecond) {
			return nil, errors.Join(fmt.Errorf("%w: it ended before piped's service answered: %s", errNotStarted,
				x.process.end()), x.close())
		}
		if x.piped, err = standin.Start(options); err != nil {
			return nil, errors.Join(err, x.close())
		}
	}
	if err := x.await(ctx); err != nil {
		return nil, errors.Join(err, x.close())
	}
	return x, nil
}

// installed returns the program of the machine in the place of a tool that piped would install, of whatever version.
func installed(name, _ string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return "" // the plugin finds no file where it looks for the tool
	}
	return path
}

// launch starts the process.
func (x *session) launch(piped string, how setup) (err error) {
	if x.port == 0 {
		if x.port, err = x.suite.freePort(); err != nil {
			return err
		}
	}
	if x.dir, err = os.MkdirTemp(x.suite.scratch, "session-"); err != nil {
		return err
	}
	work := filepath.Join(x.dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	settings := x.suite.options.Settings
	settings.Port = x.port
	if how.settings != nil {
		how.settings(&settings)
	}
	config, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("encode the configuration of plugin %s: %w", settings.Name, err)
	}
	path, err := filepath.Abs(x.suite.options.Program)
	if err != nil {
		return err
	}
	l := launch{path: path, dir: work, args: []string{"start", "--piped-plugin-service", piped, "--config",
		string(config)}}
	if how.apart {
		x.home, x.temp = filepath.Join(x.dir, "home"), filepath.Join(x.dir, "temp")
		if err := errors.Join(os.Mkdir(x.home, 0o700), os.Mkdir(x.temp, 0o700)); err != nil {
			return err
		}
		l.env = []string{"HOME=" + x.home, "TMPDIR=" + x.temp, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME="}
	}
	if how.orphanable {
		var read *os.File
		if read, x.parent, err = os.Pipe(); err != nil {
			return err
		}
		defer read.Close()
		l.orphanable, l.parentPipe, l.env = true, read, append(l.env, "PIPEDECK_PARENT_FD=3")
	}
	if x.process, err = x.suite.spawn(l); err == nil && how.spawned != nil {
		how.spawned(x.process)
	}
	return err
}

// await returns when the plugin has reported its stages.
func (x *session) await(ctx context.Context) (err error) {
	began := time.Now()
	if x.conn, err = dial(x.port); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		for {
			answer, err := x.deployments().FetchDefinedStages(ctx, &deployment.FetchDefinedStagesRequest{},
				grpc.WaitForReady(true))
			x.stages = answer.GetStages()
			if status.Code(err) != codes.Unavailable || ctx.Err() != nil {
				answered <- err
				return
			}
		}
	}()
	defer x.process.bound(ctx, x.suite.bounds.Start, cancel)()
	select {
	case err = <-answered:
	case <-x.process.exited:
		cancel()
		<-answered
		err := fmt.Errorf("%w: it ended before it answered FetchDefinedStages: %s", errNotStarted, x.process.end())
		printed := x.process.output.text()
		_, module := missingModule(printed)
		if next := cmp.Or(module, missingTarget(x.suite.options.Settings, printed)); next != "" {
			return &missingError{err, next}
		}
		return err
	}
	x.took = max(0, time.Since(began)-x.process.starved(x.suite.bounds.Start))
	switch {
	case err == nil:
		return nil
	case !x.process.running():
		return fmt.Errorf("%w: it ended at FetchDefinedStages: %s", errNotStarted, x.process.end())
	case ctx.Err() != nil || status.Code(err) == codes.Unavailable:
		return fmt.Errorf("%w: it did not report its stages (FetchDefinedStages) in %s%s", errNotStarted,
			x.suite.bounds.Start, x.symptom())
	}
	return fmt.Errorf("%w: it answers FetchDefinedStages with %s", errNotStarted, words(err))
}

// symptom says what is seen of a program that does not answer.
func (x *session) symptom() string {
	text := ""
	if listening := listeners(x.process.mark); len(listening) > 0 {
		text = "; it listens on " + strings.Join(listening, ", ")
	}
	want := fmt.Sprintf("the port of its configuration, %d", x.port)
	switch speaks(loopback(x.port)) {
	case "":
		return text + ", but not on " + want
	case "tls":
		return text + "; on " + want + ", it speaks TLS: piped speaks plain text"
	case "http1":
		return text + "; on " + want + ", it speaks HTTP/1, which is not gRPC"
	}
	return text + "; it accepts connections on " + want + ", and does not answer"
}

func dial(port int) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+loopback(port), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(), grpc.WithConnectParams(grpc.ConnectParams{ // a program serves within milliseconds
			Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.3, Jitter: 0.2,
				MaxDelay: 200 * time.Millisecond},
			MinConnectTimeout: 5 * time.Second, // of a busy machine
		}))
}

func (x *session) deployments() deployment.DeploymentServiceClient {
	return deployment.NewDeploymentServiceClient(x.conn)
}

// alive returns an error when the process has ended.
func (x *session) alive() error {
	// The end of the connection is seen before that of the process.
	if x.conn != nil && x.process.wait(context.Background(), 0) {
		return fmt.Errorf("the process has ended (%s): one request must not end the work for all others",
			x.process.end())
	}
	return nil
}

// gone waits a moment for the end of a process whose connection has ended.
func (x *session) gone(err error) error {
	if status.Code(err) == codes.Unavailable {
		x.process.wait(context.Background(), 2*time.Second)
	}
	return x.alive()
}

// terminate sends SIGTERM and waits for the end.
func (x *session) terminate(ctx context.Context) error {
	began := time.Now()
	_ = syscall.Kill(x.process.command.Process.Pid, syscall.SIGTERM)
	if !x.process.wait(ctx, x.suite.bounds.Grace) {
		return fmt.Errorf("it goes on %s after SIGTERM", x.suite.bounds.Grace)
	}
	x.took = time.Since(began)
	if err := x.process.ended(); err != nil {
		return fmt.Errorf("it ended with %s; piped takes that for a crash", x.process.end())
	}
	return nil
}

// close ends what the session has started.
func (x *session) close() error {
	var errs []error
	if x.process != nil {
		x.process.kill()
	}
	if x.conn != nil {
		errs = append(errs, x.conn.Close())
	}
	if x.parent != nil {
		_ = x.parent.Close() // a case may have closed it
	}
	if x.piped != nil {
		_ = x.piped.Close() // a case may have ended it
	}
	return errors.Join(errs...)
}

// words are those of an error over gRPC.
func words(err error) string {
	if err == nil {
		return "OK"
	}
	s := status.Convert(err)
	return fmt.Sprintf("%s: %s", s.Code(), firstLine(s.Message()))
}

func lastPart(method string) string { return method[strings.LastIndexByte(method, '/')+1:] }
