// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// hostVariable makes the test program a host that runs one stage until it is killed.
const hostVariable = "PIPEDECK_TEST_HOST"

// runHost is the process of a host, with its directory and the options of the stage as JSON.
func runHost(settings string) error {
	var s struct{ Plugin, Dir, With string }
	if err := json.Unmarshal([]byte(settings), &s); err != nil {
		return err
	}
	tree, err := processtree.Keep(filepath.Join(s.Dir, "process-tree"))
	if err != nil {
		return err
	}
	server, registry, err := newService(newLogs(), filepath.Join(s.Dir, "tools"))
	if err != nil {
		return err
	}
	ctx := context.Background()
	go func() { _ = server.Run(ctx) }()
	host, err := pluginhost.New(pluginhost.Options{
		Plugins:     []config.Plugin{{Name: "scriptrun", URL: "file://" + s.Plugin}},
		BinaryDir:   filepath.Join(s.Dir, "plugins"),
		ProcessTree: tree, Service: server, ServiceAddress: server.Address(),
	})
	if err != nil {
		return err
	}
	go func() { _ = host.Run(ctx) }()
	p, err := host.Owner(ctx, "SCRIPT_RUN")
	if err != nil {
		return err
	}
	if err := os.WriteFile(
		filepath.Join(s.Dir, "plugin.pid"), []byte(strconv.Itoa(int(host.Status()[0].GetPid()))), 0o600,
	); err != nil {
		return err
	}
	registry.Add(stageDeployment("SCRIPT_RUN"))
	return executeNamed(ctx, p, "SCRIPT_RUN", s.With)
}
