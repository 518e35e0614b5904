// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/gobuild"
	"github.com/pipedeck/pipedeck/devenv/helper"
	"github.com/pipedeck/pipedeck/devenv/image"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/owned"
	"github.com/pipedeck/pipedeck/system/plainerror"
)

// Setup is an environment to run as a user asked for it, and how it is shown.
type Setup struct {
	Target *session.Target
	Flags  *Flags
	Mode   OutputMode
	// Keep leaves cluster and state when the environment ends.
	Keep   bool
	change changeFlags
	// follows is nil for what is checked out.
	follows *following
	// Args is the repository's directory; none for the repository around the working directory or a sample.
	Args []string
	// results are those of ci; nil for none.
	results *results
	// recording of what happens; nil for none.
	recording *recording
	// Out gets the events, Err warnings.
	Out, Err io.Writer
	// began is set once parts of the environment may run: from then on, the environment removes itself.
	began bool
}

// reports is where an environment reports to while it runs.
type reports struct {
	logger *slog.Logger
	// listening gets the address of the control plane once clients may connect.
	listening func(address string)
	// warn gets a line for each thing about this machine that may go wrong.
	warn func(line string)
}

// runLogged runs the environment, which reports to its log. The log is the standard error of the process, too, which
// the Go runtime writes a panic to.
func (s *Setup) runLogged(ctx context.Context, listening func(address string)) error {
	w, err := s.Target.Workspace()
	if err != nil {
		return err
	}
	logger, closeLog, err := quiet(w)
	if err != nil {
		return err
	}
	err = s.run(ctx, reports{logger: logger, listening: listening, warn: func(string) {}}) // warnings are in the log
	return errors.Join(err, closeLog())
}

// run returns when the environment has ended.
func (s *Setup) run(ctx context.Context, to reports) error {
	w, err := s.Target.Workspace()
	if err != nil {
		return err
	}
	from, err := s.Flags.chooseSource(s.Args)
	if err != nil {
		return err
	}
	piped, plugins, err := s.Flags.programs(w)
	if err != nil {
		return err
	}
	programs, err := s.Flags.compileFor(w)
	if err != nil {
		return err
	}
	defer s.Flags.helper.Close()
	clusters, err := s.Flags.make(w, to.logger)
	if err != nil {
		return err
	}
	images, err := s.Flags.imageService(to.logger)
	if err != nil {
		return err
	}
	machine, err := s.Flags.doctor(filepath.Dir(w.Dir), w.Name)
	if err != nil {
		return err
	}
	again, err := s.Flags.restart(s.Args)
	if err != nil {
		return err
	}
	withKind, withLocalPods, err := s.Flags.alternatives(w, s.Args)
	if err != nil {
		return err
	}
	s.Flags.logOwn(to.logger)
	options := env.Options{
		Workspace:     w,
		Helper:        s.Flags.helper,
		Images:        images,
		Repository:    func() (*workspace.Repository, error) { return from.open(w) },
		Content:       env.Content{Live: s.Flags.live},
		Programs:      programs,
		PipedOptions:  s.Flags.pipedOptions(piped, plugins),
		Remove:        !s.Keep,
		Restart:       again,
		WithKind:      withKind,
		WithLocalPods: withLocalPods,
		Version:       version.Build(),
		Flags:         session.Flags(w),
		Listening:     to.listening,
		Logger:        to.logger,
	}
	s.apply(&options)
	checks := newPreflight(machine)
	options.Clusters = checks.gate(clusters)
	s.began = true
	return checks.guard(ctx, to.logger, to.warn, func(ctx context.Context) error { return env.Run(ctx, options) })
}

// apply adds what depends on the command, and on the last run of the environment.
func (s *Setup) apply(o *env.Options) {
	s.follows.apply(o)
	s.results.apply(o)
	o.OtherClusters = s.Flags.refuseOtherClusters(o.Workspace)
}

// compileFor returns what has to be compiled, and prepares the helper and the clusters for waiting for it.
func (f *Flags) compileFor(w *workspace.Workspace) (*gobuild.Programs, error) {
	programs, err := f.compilation()
	if err != nil {
		return nil, err
	}
	if programs != nil {
		f.before = programs.Wait
	}
	f.helper, err = newHelper(w.Path("logs", "helper.log"), programs)
	return programs, err
}

// newHelper returns the helper of an environment, whose program is one of the programs if these have to be compiled.
func newHelper(logFile string, programs *gobuild.Programs) (*helper.Helper, error) {
	bin, err := pluginflag.ProgramDir()
	if err != nil {
		return nil, err
	}
	config := helper.Config{Path: filepath.Join(bin, helper.Program), LogFile: logFile}
	if programs != nil {
		config.Compiled = programs.WaitFirst
	}
	return helper.New(config), nil
}

// installedImages is the folder with the programs of the samples, which releases have next to pipedeck.
const installedImages = "images"

// imageService makes what plugins get the images of the repository's programs from.
func (f *clusterFlags) imageService(
	logger *slog.Logger,
) (func(env.LoadImage, env.HasImage) imagev1.ImageServiceServer, error) {
	cache, err := image.DefaultCacheDir()
	if err != nil {
		return nil, err
	}
	local, err := f.runsLocally()
	if err != nil {
		return nil, err
	}
	builder := image.NewBuilder(cache, f.helper)
	if bin, err := pluginflag.ProgramDir(); err == nil {
		builder.Installed = filepath.Join(bin, installedImages)
	}
	return func(load env.LoadImage, has env.HasImage) imagev1.ImageServiceServer {
		return image.NewService(image.Config{
			Builder: builder, Load: image.LoadFunc(load), Has: image.HasFunc(has), Programs: local, Logger: logger,
		})
	}, nil
}

// lastWords is the space that the log of the host keeps for what the process writes when it ends, such as a panic, so
// that it is written on a full disk, too.
const lastWords = 64 << 10

// quiet returns a logger that writes to the environment's log, and what closes the log. Hosts use it, because their
// standard output belongs to the events.
func quiet(w *workspace.Workspace) (*slog.Logger, func() error, error) {
	if err := w.Create(); err != nil {
		return nil, nil, err
	}
	file, err := owned.OpenLog(w.Path("logs", "host.log"), owned.MaxLog)
	if err != nil {
		return nil, nil, fmt.Errorf("open the environment's log: %w", err)
	}
	_ = file.Reserve(lastWords) // on a full disk, the first line that fits tries again
	return slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{ReplaceAttr: plainerror.Attr})), file.Close, nil
}
