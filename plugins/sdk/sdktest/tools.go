// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"text/template"
	"time"
)

// scriptDelay bounds how long processes that an install script has left behind may keep its output open.
const scriptDelay = time.Second

// InstallTool implements [sdk.StageClient]: it runs the script as piped does, once for each name and version.
func (c *Client) InstallTool(ctx context.Context, name, version, script string) (string, error) {
	path, err := c.tool(name, version)
	if err == nil {
		err = c.begin(ctx, "InstallTool")
	}
	if err == nil {
		err = c.install(ctx, path, name, version, script)
	}
	if err != nil {
		return "", fmt.Errorf("install %s %s: %w", name, version, err)
	}
	return path, nil
}

// PlaceTool plays a tool that is on the machine already: its program is a shell script.
func (c *Client) PlaceTool(name, version, program string) error {
	path, err := c.tool(name, version)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(program), 0o700)
}

// tool is the path of a tool.
func (c *Client) tool(name, version string) (string, error) {
	file := name + "-" + version
	if name == "" || version == "" || file != filepath.Base(file) {
		return "", errors.New("a tool needs a name and a version without slashes")
	}
	return filepath.Join(c.tools, file), nil
}

func (c *Client) install(ctx context.Context, path, name, version, script string) error {
	c.installing.Lock()
	defer c.installing.Unlock()
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	dir, err := os.MkdirTemp(c.tools, ".install-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out")
	parsed, err := template.New("script").Option("missingkey=error").Parse(script)
	if err != nil {
		return fmt.Errorf("read the install script: %w", err)
	}
	var text strings.Builder
	if err := parsed.Execute(&text, map[string]string{"Name": name, "Version": version, "OutPath": out, "TmpDir": dir,
		"Arch": runtime.GOARCH, "Os": runtime.GOOS}); err != nil {
		return fmt.Errorf("fill in the install script: %w", err)
	}
	command := exec.CommandContext(ctx, "/bin/sh", "-c", text.String())
	command.Dir, command.WaitDelay = dir, scriptDelay
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("the install script failed: %w: %s", err, output)
	}
	if err := os.Chmod(out, 0o700); err != nil {
		return fmt.Errorf("the install script left no file at OutPath: %w", err)
	}
	return os.Rename(out, path)
}
