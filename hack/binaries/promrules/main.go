// promrules says at which minutes expressions of PromQL have a result, by Prometheus' own engine: what the tests of the alerts ask
// (test/integration/chart/alerts.test.ts). It reads a JSON list of requests from standard input and writes a list of answers.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
)

type request struct {
	Expr string `json:"expr"`
	// A sample each minute, in the notation of Prometheus' own tests: `metric{label="value"} 0+1x60`.
	Series []string `json:"series"`
	// How many minutes are looked at.
	Minutes int `json:"minutes"`
}

// result is a series of the expression: its labels, and the minutes at which it is there.
type result struct {
	Labels  map[string]string `json:"labels"`
	Minutes []int             `json:"minutes"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "promrules: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	folder, err := os.MkdirTemp("", "promrules-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var requests []request
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		return err
	}
	answers := make([][]result, 0, len(requests))
	for _, r := range requests {
		results, err := evaluate(r, folder)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Expr, err)
		}
		answers = append(answers, results)
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}

func evaluate(r request, folder string) (results []result, err error) {
	defer func() {
		if failure, ok := recover().(failure); ok {
			err = fmt.Errorf("%s", failure)
		}
	}()
	load := "load 1m\n"
	for _, series := range r.Series {
		load += "  " + series + "\n"
	}
	storage := promqltest.LoadedStorage(loading{folder: folder}, load)
	defer storage.Close()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 10_000_000, Timeout: time.Minute})
	start := time.Unix(0, 0)
	end := start.Add(time.Duration(r.Minutes) * time.Minute)
	query, err := engine.NewRangeQuery(context.Background(), storage, nil, r.Expr, start, end, time.Minute)
	if err != nil {
		return nil, err
	}
	matrix, err := query.Exec(context.Background()).Matrix()
	if err != nil {
		return nil, err
	}
	results = []result{}
	for _, series := range matrix {
		minutes := []int{}
		for _, point := range series.Floats {
			minutes = append(minutes, int(point.T/60_000))
		}
		results = append(results, result{Labels: series.Metric.Map(), Minutes: minutes})
	}
	return results, nil
}

type failure string

// loading stands in for a test where Prometheus loads its series: it ends with a failure, and its folder is removed with all others.
type loading struct {
	testing.TB
	folder string
}

func (loading) Helper()                           {}
func (loading) Cleanup(func())                    {}
func (loading) Logf(string, ...any)               {}
func (loading) Failed() bool                      { return false }
func (loading) Name() string                      { return "promrules" }
func (l loading) TempDir() string                 { return mustMakeFolder(l.folder) }
func (loading) FailNow()                          { panic(failure("the series could not be loaded")) }
func (loading) Errorf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }
func (loading) Fatalf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }
func (loading) Fatal(args ...any)                 { panic(failure(fmt.Sprint(args...))) }

func mustMakeFolder(parent string) string {
	folder, err := os.MkdirTemp(parent, "series-")
	if err != nil {
		panic(failure(err.Error()))
	}
	return folder
}
