// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
)

// reportScale says how much callers report to a control plane that keeps its history.
type reportScale struct{ deployments, callers, blocks int }

const (
	stagesOfDeployment = 5
	// A piped sends the lines of a stage in batches.
	blocksOfReport = 20
)

func (s *reportScale) register(f *flag.FlagSet) {
	f.IntVar(&s.deployments, "reported-deployments", 1000, "deployments that are reported to one control plane")
	f.IntVar(&s.blocks, "reported-blocks", 1_000_000, "log blocks of all of them")
	f.IntVar(&s.callers, "callers", 20, "callers that report at the same time")
}

func (s *reportScale) validate() error {
	if s.deployments < 1 || s.callers < 1 || s.blocks < s.deployments*stagesOfDeployment {
		return errors.New("-reported-deployments and -callers must be positive, -reported-blocks one for each " +
			"stage at least")
	}
	return nil
}

// benchReports measures how long a report takes until it is on the disk, next to a call of the same callers that does
// nothing. Callers and control plane share this process: the figure of the CPU counts both.
func benchReports(ctx context.Context, _, dir string, s reportScale) (err error) {
	server, err := controlplane.New(controlplane.Config{
		ProjectID: "bench", PipedID: "piped", PipedName: "piped", PipedKey: "key",
		APIKey:   "bench." + strings.Repeat("k", 32),
		KeepFile: filepath.Join(dir, "history"),
	})
	if err != nil {
		return err
	}
	address, stop, err := serve(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	server.ImportApplication(&model.Application{Id: "app", Name: "app", PipedId: "piped", ProjectId: "bench"})

	var mu sync.Mutex
	var reports, idle []time.Duration
	var callers sync.WaitGroup
	failures := make(chan error, s.callers)
	before, started := ownCPU(), time.Now()
	for caller := range s.callers {
		callers.Go(func() {
			r := &reporter{scale: s}
			if err := r.run(ctx, address, caller); err != nil {
				failures <- err
			}
			mu.Lock()
			defer mu.Unlock()
			reports, idle = append(reports, r.reports...), append(idle, r.idle...)
		})
	}
	callers.Wait()
	close(failures)
	for failure := range failures {
		err = errors.Join(err, failure)
	}
	if err != nil {
		return err
	}
	cpu := ownCPU() - before
	fmt.Printf("reports: %d deployments, %d log blocks, %d callers in %s\n", s.deployments, s.blocks, s.callers,
		time.Since(started).Round(time.Second))
	figures("a report until it is on the disk", reports)
	figures("a call that does nothing, by the same callers", idle)
	numbers("p99 of a report : p99 of such a call", "x",
		[]float64{float64(percentile99(reports)) / float64(percentile99(idle))}, limit{"median", 10})
	numbers("CPU of a report, its caller and such a call", "ms",
		[]float64{float64(cpu.Microseconds()) / 1000 / float64(len(reports))})
	return nil
}

// reporter is one caller.
type reporter struct {
	scale         reportScale
	client        pipedservice.PipedServiceClient
	reports, idle []time.Duration
}

func (r *reporter) run(ctx context.Context, address string, caller int) error {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	r.client = pipedservice.NewPipedServiceClient(conn)
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "PIPED-TOKEN bench,piped,key")
	for n := caller; n < r.scale.deployments; n += r.scale.callers {
		if err := r.deployment(ctx, fmt.Sprint("deployment-", n)); err != nil {
			return err
		}
	}
	return nil
}

// report makes a call and, in turn, one that does nothing.
func (r *reporter) report(ctx context.Context, call func() error) error {
	start := time.Now()
	if err := call(); err != nil {
		return err
	}
	r.reports = append(r.reports, time.Since(start))
	start = time.Now()
	_, err := r.client.ReportStat(ctx, &pipedservice.ReportStatRequest{PipedStats: []byte("none")})
	r.idle = append(r.idle, time.Since(start))
	return err
}

func (r *reporter) deployment(ctx context.Context, id string) error {
	var stages []*model.PipelineStage
	for n := range stagesOfDeployment {
		stages = append(stages, &model.PipelineStage{
			Id: fmt.Sprint("stage-", n), Name: "SCRIPT_RUN", CreatedAt: 1, UpdatedAt: 1,
		})
	}
	calls := []func() error{
		func() error {
			_, err := r.client.CreateDeployment(ctx,
				&pipedservice.CreateDeploymentRequest{Deployment: newDeployment(id)})
			return err
		},
		func() error {
			_, err := r.client.ReportDeploymentPlanned(ctx,
				&pipedservice.ReportDeploymentPlannedRequest{DeploymentId: id, Stages: stages})
			return err
		},
	}
	for _, stage := range stages {
		calls = append(calls, r.stage(ctx, id, stage.GetId())...)
	}
	calls = append(calls, func() error {
		_, err := r.client.ReportDeploymentCompleted(ctx, &pipedservice.ReportDeploymentCompletedRequest{
			DeploymentId: id, Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS, CompletedAt: 1,
		})
		return err
	})
	for _, call := range calls {
		if err := r.report(ctx, call); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	return nil
}

func (r *reporter) stage(ctx context.Context, deployment, stage string) []func() error {
	status := func(status model.StageStatus) func() error {
		return func() error {
			_, err := r.client.ReportStageStatusChanged(ctx, &pipedservice.ReportStageStatusChangedRequest{
				DeploymentId: deployment, StageId: stage, Status: status, CompletedAt: 1,
			})
			return err
		}
	}
	calls := []func() error{status(model.StageStatus_STAGE_RUNNING)}
	blocks := r.scale.blocks / r.scale.deployments / stagesOfDeployment
	for from := 0; from < blocks; from += blocksOfReport {
		calls = append(calls, func() error {
			report := &pipedservice.ReportStageLogsRequest{DeploymentId: deployment, StageId: stage}
			for i := from; i < min(from+blocksOfReport, blocks); i++ {
				report.Blocks = append(report.Blocks, &model.LogBlock{
					Index: int64(i + 1), CreatedAt: 1,
					Log: fmt.Sprintf("%d a line of a log as scripts and compilers write them\n", i),
				})
			}
			_, err := r.client.ReportStageLogs(ctx, report)
			return err
		})
	}
	return append(calls, status(model.StageStatus_STAGE_SUCCESS))
}

func newDeployment(id string) *model.Deployment {
	return &model.Deployment{
		Id: id, ApplicationId: "app", ApplicationName: "app", PipedId: "piped", ProjectId: "bench", CreatedAt: 1,
		UpdatedAt: 1,
		GitPath:   &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: "app"},
		Trigger: &model.DeploymentTrigger{
			Commit:    &model.Commit{Hash: "c0ffee", Message: "m", Author: "a", Branch: "main", CreatedAt: 1},
			Timestamp: 1,
		},
	}
}

// ownCPU is what this process has used.
func ownCPU() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
