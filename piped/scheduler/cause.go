// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/spelling"
)

// CauseMetadataKey is the shared metadata of a deployment without a plan that the environment lacks something for, as
// the stages of plugins of our SDK have it: {"kind": "NO_PLUGIN"}. PipeCD's control plane keeps it and never shows it.
const CauseMetadataKey = "pipedeck/cause"

const (
	// causeNoPlugin: piped has no plugin that owns a stage of the application, or that the application names.
	causeNoPlugin = "NO_PLUGIN"
	// causeForeignKey: the secrets of the application are encrypted for a key that piped does not have.
	causeForeignKey = "FOREIGN_KEY"
)

// causeOf is what the environment lacks for a plan; empty for other errors. A name that is nearly one that piped has is
// a slip of the author. A plugin that has not started, or that names no stages, may be the one that owns the stage.
func causeOf(why error) string {
	var stage *pluginhost.UnknownStageError
	var plugin *pluginhost.UnknownPluginError
	switch {
	case errors.As(why, &stage) && len(stage.Down)+len(stage.Stageless) == 0 &&
		!spelling.Slip(stage.Stage, stage.Known),
		errors.As(why, &plugin) && !spelling.Slip(plugin.Name, plugin.Known):
		return causeNoPlugin
	}
	var mistakes config.Errors
	mistaken := func(e *config.Error) bool { return !e.ForeignKey }
	if errors.As(why, &mistakes) && len(mistakes) > 0 && !slices.ContainsFunc(mistakes, mistaken) {
		return causeForeignKey
	}
	return ""
}

// saveCause records what the environment lacks, if it lacks something. It is called before the end of the deployment is
// reported, so that whoever sees the end sees the cause.
func (r *reports) saveCause(ctx context.Context, why error) {
	kind := causeOf(why)
	if kind == "" {
		return
	}
	value, err := json.Marshal(map[string]string{"kind": kind})
	if err != nil {
		return // it holds texts only
	}
	logger := r.logger.With("deployment", r.progress.id())
	request := &pipedservice.SaveDeploymentSharedMetadataRequest{
		DeploymentId: r.progress.id(), Metadata: map[string]string{CauseMetadataKey: string(value)},
	}
	err = r.persist(ctx, logger, func(ctx context.Context) error {
		_, err := r.controlPlane.SaveDeploymentSharedMetadata(ctx, request)
		return err
	})
	if err != nil && ctx.Err() == nil {
		logger.Warn("the cause of a deployment without a plan was not reported", "error", err)
	}
}
