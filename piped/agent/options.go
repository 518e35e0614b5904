// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/piped/pluginhost/reattach"
)

// PluginOptions are about the processes of plugins.
type PluginOptions struct {
	// ServicePort is the port for their calls, taken on 127.0.0.1; 0 takes a free one.
	ServicePort int
	// ToolsDir holds what plugins install.
	ToolsDir string
	// LogDir gets a file of output per plugin. Empty puts the files into the work directory, and the output into
	// piped's log as well.
	LogDir string
	// GracePeriod is the time for plugins to stop, StartTimeout that to answer after a start.
	GracePeriod, StartTimeout time.Duration
	// HangTimeout is the time for a plugin to answer a question for its health; negative for ever.
	HangTimeout time.Duration
	// NoReload leaves a plugin running when its binary changes, until it is restarted.
	NoReload bool
	// Reattach are processes that authors have started, used in place of the plugins' own; ReattachFile has those of
	// later. Empty for none.
	Reattach     []reattach.Target
	ReattachFile string
	// Refetch throws the kept copies of plugin binaries away first.
	Refetch bool
}

// pluginOptions checks what plugins own in configurations against the schemas that the running plugins ship. It finds
// nothing in the parts of a plugin without a schema, and nothing that it finds keeps piped from working.
type pluginOptions struct {
	piped  *config.Piped
	logger *slog.Logger

	mu      sync.Mutex
	schemas map[string]*options.Schema // by plugin
	shown   map[string]bool            // mistakes in the piped configuration that the log has
}

func newPluginOptions(piped *config.Piped, logger *slog.Logger) *pluginOptions {
	return &pluginOptions{piped: piped, logger: logger, schemas: map[string]*options.Schema{}, shown: map[string]bool{}}
}

// described takes the schema of a plugin that has just started, and logs what is wrong in its part of the piped
// configuration, once.
func (o *pluginOptions) described(plugin string, document []byte) {
	var schema *options.Schema
	if len(document) > 0 {
		var err error
		if schema, err = options.Parse(document); err != nil {
			o.logger.Warn("options of a plugin are not checked, because its schema cannot be used", "plugin", plugin,
				"error", err)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.schemas[plugin] = schema
	if o.piped.Report() == nil {
		return
	}
	errors, warnings := o.checker().Mistakes(o.piped.Report())
	for _, mistake := range append(errors, warnings...) {
		if text := mistake.Error(); !o.shown[text] {
			o.shown[text] = true
			o.logger.Warn("piped configuration has an option that is wrong or not read", "plugin", plugin, "problem",
				text)
		}
	}
}

// application returns what is wrong in an application configuration.
func (o *pluginOptions) application(configuration []byte, filename string) (errors, warnings config.Errors) {
	o.mu.Lock()
	defer o.mu.Unlock()
	report := config.ReadApplication(configuration, filename)
	if len(report.Errors) > 0 {
		return nil, nil // the deployment fails by them
	}
	return o.checker().Mistakes(report)
}

// checker knows the plugins of the piped configuration. The caller holds the lock.
func (o *pluginOptions) checker() *options.Checker {
	c := &options.Checker{Plugins: []options.Plugin{}, Where: "spec.plugins of the piped configuration"}
	for _, plugin := range o.piped.Plugins {
		c.Plugins = append(c.Plugins, options.Plugin{
			Name: plugin.Name, Schema: o.schemas[plugin.Name], Stages: slices.Clone(plugin.Stages),
		})
	}
	return c
}
