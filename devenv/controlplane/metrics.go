// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/process"
)

// Metrics returns what serves the problems of the environment to Prometheus, the list that status and the user
// interfaces show, and figures of this process. It writes Prometheus' text format itself: the library would be one of
// the larger parts of what a first start compiles before it shows anything.
func (s *Server) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text := &exposition{}
		present := s.store.Environment.Problems()
		healthy := 1.0
		if len(present) > 0 {
			healthy = 0
		}
		text.begin("pipedeck_healthy", "gauge", "1 when the environment has no problem.")
		text.sample("pipedeck_healthy", healthy)
		text.begin("pipedeck_degraded", "gauge",
			"1 for each problem of the environment, those of its pipeds included.")
		for _, problem := range present { // the store bounds their number
			text.sample("pipedeck_degraded", 1, "component", problem.GetComponent(), "id", problem.GetId(), "part",
				problem.GetPart())
		}
		text.runtime()
		text.process()
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write([]byte(text.String())) // a reader that has gone needs nothing
	})
}

// exposition is a text in Prometheus' format.
type exposition struct{ strings.Builder }

func (e *exposition) begin(name, kind, help string) {
	fmt.Fprintf(e, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// quoted makes a text one that stands between quotes.
var quoted = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// sample writes a value; labels are names, each followed by its value.
func (e *exposition) sample(name string, value float64, labels ...string) {
	e.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		separator := ","
		if i == 0 {
			separator = "{"
		}
		e.WriteString(separator + labels[i] + `="` + quoted.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")) + `"`)
	}
	if len(labels) > 0 {
		e.WriteString("}")
	}
	e.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// single writes a metric of one value.
func (e *exposition) single(name, kind, help string, value float64) {
	e.begin(name, kind, help)
	e.sample(name, value)
}

func (e *exposition) runtime() {
	e.begin("go_info", "gauge", "The version of Go that this program was built with.")
	e.sample("go_info", 1, "version", runtime.Version())
	e.single("go_goroutines", "gauge", "Goroutines that exist.", float64(runtime.NumGoroutine()))
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	e.single("go_memstats_alloc_bytes", "gauge", "Bytes of objects in use.", float64(memory.Alloc))
	e.single("go_memstats_sys_bytes", "gauge", "Bytes that Go has from the system.", float64(memory.Sys))
}

// process leaves out what the system does not report.
func (e *exposition) process() {
	self, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return
	}
	if times, err := self.Times(); err == nil {
		e.single("process_cpu_seconds_total", "counter", "CPU time in user and system mode.", times.User+times.System)
	}
	if memory, err := self.MemoryInfo(); err == nil {
		e.single("process_resident_memory_bytes", "gauge", "Resident memory.", float64(memory.RSS))
	}
	if files, err := self.NumFDs(); err == nil {
		e.single("process_open_fds", "gauge", "Open file descriptors.", float64(files))
	}
	if started, err := self.CreateTime(); err == nil { // in milliseconds
		e.single("process_start_time_seconds", "gauge", "Start of the process since 1970.", float64(started)/1000)
	}
}
