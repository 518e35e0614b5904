// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command testplugin is a plugin for tests: it speaks PipeCD v1's plugin protocol without any SDK, and
// behaves, well or badly, as its configuration and the options of its stages say.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// settings is the "config" of the plugin's entry in the piped configuration.
type settings struct {
	// Stages it owns; rollback stages too.
	Stages []string `json:"stages"`
	// Start is how it starts: "" well, "exit" at once with code 3, "hang" without listening, "late" by
	// Delay, "held" once the named pipe Marker has been written to, "once" well only while the file Marker is missing,
	// which it makes.
	Start  string `json:"start"`
	Delay  string `json:"delay"`
	Marker string `json:"marker"`
	sourceSettings
	// IgnoreTerm makes it deaf to SIGTERM.
	IgnoreTerm bool `json:"ignoreTerm"`
	// Health makes it answer questions for its health.
	Health bool `json:"health"`
	// Strategy is its opinion: PIPELINE, QUICK_SYNC, "error", or "" for none; "refuse" and "stuck" fail the planning.
	Strategy string `json:"strategy"`
	// Quick is the name of its quick sync stage; empty for none.
	Quick string `json:"quick"`
	// Rollback is the name of the rollback stage that it adds for each of its stages; empty for none.
	Rollback string `json:"rollback"`
	// RollbackOnce adds it for the first stage only.
	RollbackOnce bool     `json:"rollbackOnce"`
	Versions     []string `json:"versions"`
	// Planning is a call ("DetermineVersions") that ends the process with code 7 until the file Marker holds Times
	// bytes, one for each time. Instead of ending it, "hang" waits until the call is cancelled.
	Planning string `json:"planning"`
	Times    int    `json:"times"`
	Hang     bool   `json:"hang"`
	// ManyVersions are added to Versions: v0, v1, and so on.
	ManyVersions int `json:"manyVersions"`
	// Preview is how it answers plan previews: "value", "error", "hang" or "recorded"; empty for not at all.
	Preview string `json:"preview"`
	// Previews are recorded answers, by application id.
	Previews map[string][]byte `json:"previews"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) == 3 && os.Args[1] == "debug" {
		debug(os.Args[2])
		return
	}
	if len(os.Args) < 2 || os.Args[1] != "start" {
		log.Fatal("usage: testplugin start --piped-plugin-service ADDRESS --config JSON")
	}
	flags := flag.NewFlagSet("start", flag.ExitOnError)
	service := flags.String("piped-plugin-service", "", "address of piped")
	argument := flags.String("config", "", "entry of the piped configuration as JSON")
	_ = flags.Parse(os.Args[2:])
	var entry struct {
		Name   string   `json:"name"`
		Port   int      `json:"port"`
		Config settings `json:"config"`
	}
	if err := json.Unmarshal([]byte(*argument), &entry); err != nil {
		log.Fatal("config: ", err)
	}
	given := link()
	if given != nil {
		if len(entry.Config.Stages) > 0 {
			log.Fatal("the configuration is on the command line")
		}
		if err := json.Unmarshal([]byte(given.config), &entry); err != nil {
			log.Fatal("config: ", err)
		}
	}
	fmt.Println("hello from", entry.Name)
	if entry.Config.IgnoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	go endWithParent()
	start(entry.Config)

	if given == nil {
		given = loopback(*service, entry.Port)
	}
	server, own := grpc.NewServer(grpc.UnaryInterceptor(entry.Config.endInPlanning)), health.NewServer()
	if entry.Config.Health {
		grpc_health_v1.RegisterHealthServer(server, own)
	}
	deployment.RegisterDeploymentServiceServer(server, &plugin{
		settings: entry.Config, listener: given.listener, health: own,
		piped: pluginservice.NewPluginServiceClient(given.piped),
	})
	if entry.Config.reports() {
		deployment.RegisterSourceUseServiceServer(server, newSourceUse(entry.Config))
	}
	if entry.Config.Preview != "" {
		planpreview.RegisterPlanPreviewServiceServer(
			server, &preview{kind: entry.Config.Preview, recorded: entry.Config.Previews},
		)
	}
	log.Fatal(server.Serve(given.listener))
}

func loopback(service string, port int) *connections {
	conn, err := grpc.NewClient(service, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		log.Fatal("listen: ", err)
	}
	return &connections{listener: listener, piped: conn}
}

func start(s settings) {
	switch s.Start {
	case "exit":
		fmt.Fprintln(os.Stderr, "cannot find the moon")
		os.Exit(3)
	case "hang":
		fmt.Fprintln(os.Stderr, "waiting for the moon")
		select {}
	case "late":
		delay, err := time.ParseDuration(s.Delay)
		if err != nil {
			log.Fatal(err)
		}
		<-time.After(delay)
	case "held":
		if _, err := os.ReadFile(s.Marker); err != nil {
			log.Fatal(err)
		}
	case "once":
		if _, err := os.Stat(s.Marker); err == nil {
			fmt.Fprintln(os.Stderr, "started before")
			os.Exit(4)
		}
		if err := os.WriteFile(s.Marker, nil, 0o600); err != nil {
			log.Fatal(err)
		}
	}
}

// endWithParent ends the plugin when the pipe at descriptor 3 does.
func endWithParent() {
	if os.Getenv("PIPEDECK_PARENT_FD") != "3" {
		return
	}
	_, _ = os.NewFile(3, "parent").Read(make([]byte, 1))
	os.Exit(0)
}
