// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/reattach"
)

// reattachFlags are those of the reattach command.
type reattachFlags struct{ listen, name string }

func (f *reattachFlags) add(flags *flag.FlagSet) {
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "where to wait for piped")
	flags.StringVar(&f.name, "name", "", "the plugin's name in the piped configuration")
}

// reattach waits for piped in a process that its author has started, works for it as long as it stays, and waits
// again, until ctx ends.
func (f *startFlags) reattach(ctx context.Context, plugin Plugin, own reattachFlags, stderr io.Writer) error {
	logger, err := newLogger(stderr, f.logLevel, f.logEncoding)
	if err != nil {
		return err
	}
	listener, err := listenOwn(ctx, own.listen)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	waiting := &waitingProcess{
		ctx: ctx, end: end, plugin: plugin, token: rand.Text(), gracePeriod: cmp.Or(f.gracePeriod, 30*time.Second),
		logger: logger,
	}
	name := cmp.Or(own.name, ownName())
	withdraw, err := announce(name, listener.Addr().String(), waiting.token)
	if err != nil {
		logger.Warn("piped cannot find this process by its name", "error", err)
	}
	defer withdraw()
	target := fmt.Sprintf("%s=%s,pid=%d,token=%s", name, listener.Addr(), os.Getpid(), waiting.token)
	if _, err := fmt.Printf("export PIPEDECK_REATTACH='%s'\n", target); err != nil {
		return err
	}
	logger.Info("waiting for piped; paste the line above before pipedeck up, or run next to a running one: " +
		"pipedeck plugin attach " + name)
	return waiting.serve(listener)
}

// listenOwn listens on an address of the loopback interface.
func listenOwn(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("--listen %s: a plugin waits on this machine only\nnext step: give 127.0.0.1:PORT",
			address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w\nnext step: end the process that listens there, or give another port", err)
	}
	return listener, nil
}

// ownName is the name of the package of the program, whatever file a debugger has built.
func ownName() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Path != "" && info.Path != "command-line-arguments" {
		return path.Base(info.Path)
	}
	return programName()
}

// announce writes where this process waits into a file of its user, for a piped that knows the name only.
func announce(name, address, token string) (withdraw func(), err error) {
	withdraw = func() {}
	cache, err := os.UserCacheDir()
	if err != nil {
		return withdraw, err
	}
	dir := filepath.Join(cache, "pipedeck", "reattach")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return withdraw, err
	}
	data, err := json.Marshal(struct {
		Address string `json:"address"`
		Token   string `json:"token"`
		PID     int    `json:"pid"`
	}{address, token, os.Getpid()})
	if err != nil {
		return withdraw, err
	}
	file, err := os.CreateTemp(dir, ".announcement-*") // for its user alone
	if err != nil {
		return withdraw, err
	}
	_, err = file.Write(data)
	announcement := filepath.Join(dir, name+".json")
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), announcement)
	}
	if err != nil {
		return withdraw, errors.Join(err, os.Remove(file.Name()))
	}
	return func() {
		// Another process may have announced itself since.
		if now, err := os.ReadFile(announcement); err == nil && strings.Contains(string(now), token) {
			_ = os.Remove(announcement)
		}
	}, nil
}

// waitingProcess works for one piped after the other.
type waitingProcess struct {
	reattach.UnimplementedReattachServiceServer

	ctx         context.Context // that of the process
	end         context.CancelCauseFunc
	plugin      Plugin
	token       string
	gracePeriod time.Duration
	logger      *slog.Logger
	working     sync.Mutex // held while it works for a piped
}

var _ reattach.ReattachServiceServer = (*waitingProcess)(nil)

// serve answers pipeds until ctx ends and the work for them has.
func (w *waitingProcess) serve(listener net.Listener) error {
	server := grpc.NewServer(grpc.WaitForHandlers(true))
	reattach.RegisterReattachServiceServer(server, w)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	stop := context.AfterFunc(w.ctx, server.GracefulStop)
	defer stop()
	if err := server.Serve(listener); err != nil {
		return fmt.Errorf("wait for piped on %s: %w", listener.Addr(), err)
	}
	w.working.Lock() // the work has ended
	defer w.working.Unlock()
	if failed := (*unstoppedError)(nil); errors.As(context.Cause(w.ctx), &failed) {
		return failed
	}
	return nil
}

// unstoppedError ends a process whose stages go on though they were stopped: they must not run next to their next
// attempts.
type unstoppedError struct{ error }

// Attach works for a piped until the call ends.
func (w *waitingProcess) Attach(
	request *reattach.AttachRequest, stream grpc.ServerStreamingServer[reattach.AttachResponse],
) error {
	if subtle.ConstantTimeCompare([]byte(request.GetToken()), []byte(w.token)) != 1 {
		return status.Error(codes.PermissionDenied, "the token is not the one that this process has printed")
	}
	if !w.working.TryLock() {
		return status.Error(codes.FailedPrecondition, "it works for another piped, or ends its work for the last one")
	}
	defer w.working.Unlock()
	settings, err := ParseSettings(request.GetConfig())
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	listener, err := listenOwn(stream.Context(), "127.0.0.1:0")
	if err != nil {
		return status.Error(codes.ResourceExhausted, err.Error())
	}
	answer := &reattach.AttachResponse{Address: listener.Addr().String(), Pid: int32(os.Getpid())}
	if err := stream.Send(answer); err != nil {
		return errors.Join(err, listener.Close())
	}
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	defer context.AfterFunc(stream.Context(), cancel)()
	w.logger.Info("attached to piped", "plugin", settings.Name, "service", request.GetPipedPluginService())
	err = Serve(ctx, w.plugin, ServeOptions{
		Settings: settings, PipedAddress: request.GetPipedPluginService(), Listener: listener,
		GracePeriod: w.gracePeriod, Logger: w.logger,
	})
	w.logger.Info("detached from piped; waiting for the next one", "error", err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		w.end(&unstoppedError{err})
	}
	return status.Error(codes.FailedPrecondition, err.Error())
}
