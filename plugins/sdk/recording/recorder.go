// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// stopGrace is the time for the plugin to end; piped gives as much.
const stopGrace = 30 * time.Second

// pluginEnv are variables with which piped hands descriptors over. They are for the recorder's process.
var pluginEnv = []string{"PIPEDECK_PARENT_FD=", "PIPEDECK_PLUGIN_LINK_V1="}

// Recorder runs a plugin in place of which piped has started this process.
type Recorder struct {
	// Program is that of the plugin; Args are what piped gave to this process: "start" and its flags.
	Program string
	Args    []string
	// Writer is filled in with the plugin's name and settings.
	Writer WriterOptions
	// Settle may look at the settings of the plugin, which hold secrets, and gives those to write down.
	Settle func(sdk.Settings) (json.RawMessage, error)
	// Output is where the plugin's own output goes.
	Output io.Writer
}

// Run records until ctx ends, which ends the plugin by SIGTERM, or until the plugin ends, whose error it returns then.
func (r *Recorder) Run(ctx context.Context) (err error) {
	flags, err := pipedFlags(r.Args)
	if err != nil {
		return err
	}
	settings, err := sdk.ParseSettings(flags.config)
	if err != nil {
		return err
	}
	if r.Writer.Plugin = settings.Name; r.Settle != nil {
		if r.Writer.Settings, err = r.Settle(settings); err != nil {
			return err
		}
	}
	writer, err := NewWriter(r.Writer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, writer.Close()) }()

	fromPiped, err := listen(ctx, settings.Port)
	if err != nil {
		return fmt.Errorf("stand in for plugin %s: %w", settings.Name, err)
	}
	fromPlugin, err := listen(ctx, 0)
	if err != nil {
		return errors.Join(err, fromPiped.Close())
	}
	port, err := standin.FreePort(ctx)
	if err != nil {
		return errors.Join(err, fromPiped.Close(), fromPlugin.Close())
	}
	settings.Port = port
	toPlugin, err := StartProxy(fromPiped, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), true, writer)
	if err != nil {
		return errors.Join(err, fromPlugin.Close())
	}
	defer func() { err = errors.Join(err, toPlugin.Stop()) }()
	toPiped, err := StartProxy(fromPlugin, flags.piped, false, writer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, toPiped.Stop()) }()

	config, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("encode the configuration of plugin %s: %w", settings.Name, err)
	}
	return r.runPlugin(ctx, append([]string{"start", "--piped-plugin-service", fromPlugin.Addr().String(), "--config",
		string(config)}, flags.others...))
}

// runPlugin starts the plugin with the end of a pipe, so that one of our SDK ends with this process, too.
func (r *Recorder) runPlugin(ctx context.Context, args []string) error {
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe for the plugin: %w", err)
	}
	defer write.Close()
	plugin := exec.CommandContext(ctx, r.Program, args...)
	plugin.Stdout, plugin.Stderr = r.Output, r.Output
	plugin.ExtraFiles = []*os.File{read}
	plugin.Env = append(withoutPiped(os.Environ()), "PIPEDECK_PARENT_FD=3")
	plugin.Cancel = func() error { return plugin.Process.Signal(syscall.SIGTERM) }
	plugin.WaitDelay = stopGrace
	err = plugin.Start()
	_ = read.Close()
	if err != nil {
		return fmt.Errorf("start the program %s: %w", r.Program, err)
	}
	if err := plugin.Wait(); !endsWithin(ctx, signalNotice) {
		if err == nil {
			err = errors.New("exit code 0")
		}
		return fmt.Errorf("plugin %s ended by itself: %w", r.Program, err)
	}
	return nil
}

// signalNotice is how long the end of the plugin may precede that of ctx: both are by one signal to the process group.
const signalNotice = time.Second

func endsWithin(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(d):
		return false
	}
}

func withoutPiped(environ []string) (kept []string) {
	for _, variable := range environ {
		own := false
		for _, prefix := range pluginEnv {
			own = own || strings.HasPrefix(variable, prefix)
		}
		if !own {
			kept = append(kept, variable)
		}
	}
	return kept
}

// startFlags is the command line that piped gives.
type startFlags struct {
	piped, config string
	others        []string
}

func pipedFlags(args []string) (startFlags, error) {
	var flags startFlags
	if len(args) == 0 || args[0] != "start" {
		return flags, errors.New("the arguments are not those of piped, which begin with start")
	}
	for args = args[1:]; len(args) > 0; args = args[1:] {
		name, value, joined := strings.Cut(args[0], "=")
		var to *string
		switch name {
		case "--piped-plugin-service":
			to = &flags.piped
		case "--config":
			to = &flags.config
		default:
			flags.others = append(flags.others, args[0])
			continue
		}
		if !joined {
			if len(args) < 2 {
				return flags, fmt.Errorf("%s has no value", name)
			}
			value, args = args[1], args[1:]
		}
		*to = value
	}
	if flags.piped == "" || flags.config == "" {
		return flags, errors.New("the arguments are not those of piped, which has --piped-plugin-service and --config")
	}
	return flags, nil
}

func listen(ctx context.Context, port int) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}
