// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance/mutants/fault"
)

// mutation is the mistake that this process makes.
var mutation = filepath.Base(os.Args[0])

// began is when the process was started.
var began = time.Now()

// makes is whether one of the mistakes is made.
func makes(names ...string) bool { return slices.Contains(names, mutation) }

// settings are the plugin's entry of the piped configuration.
type settings struct {
	Name    string          `json:"name"`
	Port    int             `json:"port"`
	Config  json.RawMessage `json:"config"`
	Targets []struct {
		Name   string          `json:"name"`
		Config json.RawMessage `json:"config"`
	} `json:"deployTargets"`
}

// plugin is what the process is.
type plugin struct {
	settings
	piped pluginservice.PluginServiceClient
	conn  *grpc.ClientConn
	// stopping ends with SIGTERM, when the mistake is not about that.
	stopping context.Context

	mu sync.Mutex
	// The state that a plugin must not have.
	last              ids
	running, ended    int
	asked             int
	oneCall, oneStage sync.Mutex
	planning          sync.RWMutex
	cancels           []context.CancelFunc
	files             []*os.File
	kept              [][]byte
	first             map[string]options
	metrics           net.Listener
	all               []*model.LogBlock
}

func main() {
	known := slices.ContainsFunc(fault.All(), func(f fault.Fault) bool { return f.Name == mutation })
	switch {
	case mutation != fault.Healthy && mutation != fault.Deployer && !known:
		fail(fmt.Errorf("there is no mistake %s", mutation))
	case strings.HasPrefix(mutation, fault.Deployer), strings.HasPrefix(mutation, "previews-"):
		runDeployer()
		return
	}
	if makes("module-missing") {
		fmt.Fprintln(os.Stderr, "Traceback (most recent call last):\n  File \"main.py\", line 3, in <module>\n"+
			"    import grpc\nModuleNotFoundError: No module named 'grpc'")
		os.Exit(1)
	}
	if strings.HasPrefix(mutation, "sdk-") {
		runSDK()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "schema" {
		fmt.Println(document())
		return
	}
	if len(os.Args) < 2 || os.Args[1] != "start" {
		if makes("serves-by-default") {
			time.Sleep(time.Hour)
		}
		fail(errors.New("usage: mutants start --piped-plugin-service HOST:PORT --config JSON"))
	}
	address, config := arguments(os.Args[2:])
	p := &plugin{}
	p.configure(config)
	p.serve(address)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "mutants:", err)
	os.Exit(1)
}

// arguments reads the flags of start.
func arguments(args []string) (address, config string) {
	flags := flag.NewFlagSet("start", flag.ContinueOnError)
	flags.StringVar(&address, "piped-plugin-service", "", "HOST:PORT of piped")
	flags.StringVar(&config, "config", "", "JSON of the plugin's entry in the configuration")
	if makes("takes-any-flag") {
		args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--no-such-flag" })
	}
	if makes("help-fails") {
		flags.SetOutput(io.Discard)
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp) && !makes("help-fails"):
		os.Exit(0)
	case err != nil:
		os.Exit(2)
	case (address == "" || config == "") && makes("guesses-flags"):
		os.Exit(0)
	case address == "" || config == "":
		fail(errors.New("--piped-plugin-service and --config are required"))
	}
	return address, config
}

// configure reads the configuration.
func (p *plugin) configure(config string) {
	switch {
	case makes("exits-at-start"):
		fail(errors.New("no licence"))
	case makes("prints-config", "prints-target"):
		fmt.Fprintln(os.Stderr, "starting with", config)
	case makes("prints-base64"):
		fmt.Fprintln(os.Stderr, "starting with", base64.StdEncoding.EncodeToString([]byte("canary-config-7Qm2xVt9")))
	}
	if err := json.Unmarshal([]byte(config), &p.settings); err != nil {
		if makes("config-error-hidden") {
			os.Exit(0)
		}
		fail(fmt.Errorf("--config is no JSON: %w", err))
	}
	var own struct {
		Password string `json:"password"`
	}
	if len(p.Config) == 0 && makes("config-missing-silent") {
		os.Exit(3)
	}
	if err := json.Unmarshal(p.Config, &own); err != nil && len(p.Config) > 0 {
		if makes("config-error-hangs") {
			time.Sleep(time.Hour)
		}
		if makes("prints-wrong-config") {
			err = fmt.Errorf("%w in %s", err, p.Config)
		}
		fail(fmt.Errorf("config: %w", err))
	}
	if makes("prints-password") {
		fmt.Fprintln(os.Stderr, "signing in with", own.Password)
	}
	if makes("own-name") && p.Name != mutation {
		fail(fmt.Errorf("this is not %s", p.Name))
	}
	for _, target := range p.Targets {
		if string(target.Config) == "null" && makes("target-null-silent") {
			os.Exit(3)
		}
	}
	if makes("one-at-a-time") {
		if _, err := os.OpenFile(os.Args[0]+".lock", os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			fail(err)
		}
	}
}

// dial reaches piped.
func (p *plugin) dial(address string) {
	var err error
	if makes("dials-once") {
		once, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			fail(err)
		}
		once.Close()
	}
	p.conn, err = grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		fail(err)
	}
	p.piped = pluginservice.NewPluginServiceClient(p.conn)
}

// endWithParent ends the process when piped is gone.
func endWithParent() {
	if os.Getenv("PIPEDECK_PARENT_FD") == "" || makes("outlives-piped") {
		return
	}
	syscall.CloseOnExec(3)
	pipe := os.NewFile(3, "piped")
	go func() {
		_, _ = io.Copy(io.Discard, pipe)
		os.Exit(0)
	}()
}
