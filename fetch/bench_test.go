package fetch

const benchServerEnv = "FETCH_BENCH_SERVER"

func serveBench() {}
