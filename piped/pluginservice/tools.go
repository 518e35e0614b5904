// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"text/template"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/system/processtree"
)

const (
	installTimeout = 10 * time.Minute
	maxInstallLog  = 16 << 10 // bytes of a failed script's output that the error repeats
	maxScript      = 1 << 20  // bytes of a script; the system takes less as an argument
	// installGrace is how long a script that has ended may leave its output open.
	installGrace = time.Second
)

var toolName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)

// InstallTool makes sure that one version of a tool is on this machine. Calls for the same tool share one
// installation; a file that is already there is not looked at further, so tools can be put there by hand.
func (s *Server) InstallTool(
	ctx context.Context, request *pluginservice.InstallToolRequest,
) (*pluginservice.InstallToolResponse, error) {
	for _, part := range []string{request.GetName(), request.GetVersion()} {
		if !toolName.MatchString(part) {
			return nil, status.Errorf(
				codes.InvalidArgument, "invalid request: %q cannot be part of a tool's file name", part,
			)
		}
	}
	target := filepath.Join(s.options.ToolsDir, request.GetName()+"-"+request.GetVersion())
	if _, err := os.Stat(target); err == nil {
		return &pluginservice.InstallToolResponse{InstalledPath: target}, nil
	}
	done := s.tools.DoChan(target, func() (any, error) {
		// The installation serves all callers, so that it does not end with the first of them.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), installTimeout)
		defer cancel()
		go func() {
			select {
			case <-s.stopping:
				cancel()
			case <-ctx.Done():
			}
		}()
		s.options.Logger.Info("installing a tool", "name", request.GetName(), "version", request.GetVersion())
		return nil, install(ctx, request, target)
	})
	select {
	case result := <-done:
		if result.Err != nil {
			return nil, status.Errorf(
				codes.Internal, "install %s %s: %v", request.GetName(), request.GetVersion(), result.Err,
			)
		}
		return &pluginservice.InstallToolResponse{InstalledPath: target}, nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

// install runs the script with PipeCD v1's template variables and moves the binary it made to target.
func install(ctx context.Context, request *pluginservice.InstallToolRequest, target string) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	// Next to the target, so that the last step is a rename.
	dir, err := os.MkdirTemp(filepath.Dir(target), ".install-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out")
	script, err := template.New("script").Option("missingkey=error").Parse(request.GetInstallScript())
	if err != nil {
		return fmt.Errorf("read the install script: %w", err)
	}
	var text scriptText
	err = script.Execute(&text, map[string]string{
		"Name": request.GetName(), "Version": request.GetVersion(), "OutPath": out, "TmpDir": dir,
		"Arch": runtime.GOARCH, "Os": runtime.GOOS,
	})
	if err != nil {
		return fmt.Errorf("fill in the install script: %w", err)
	}
	if err := run(ctx, dir, text.String()); err != nil {
		return err
	}
	if err := os.Chmod(out, 0o755); err != nil {
		return fmt.Errorf("the install script left no file at OutPath: %w", err)
	}
	return os.Rename(out, target)
}

// run runs an install script. When it fails or ctx ends, everything that it has started ends, too.
func run(ctx context.Context, dir, script string) error {
	output, tree := processtree.NewOutput(maxInstallLog), processtree.New()
	command, err := tree.Start(func() *exec.Cmd {
		command := exec.CommandContext(ctx, "/bin/sh", "-c", script)
		command.Dir = dir
		command.Stdout, command.Stderr = output, output
		command.WaitDelay = installGrace
		return command
	})
	if err == nil {
		err = command.Wait()
	}
	if err == nil {
		return nil
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), processtree.EndTimeout)
	defer cancel()
	_, left := tree.End(ending)
	return fmt.Errorf("the install script failed: %w: %s", errors.Join(context.Cause(ctx), err, left), output)
}

// scriptText is a script of bounded size.
type scriptText struct{ strings.Builder }

func (t *scriptText) Write(p []byte) (int, error) {
	if t.Len()+len(p) > maxScript {
		return 0, fmt.Errorf("the script is larger than %d bytes", maxScript)
	}
	return t.Builder.Write(p)
}
